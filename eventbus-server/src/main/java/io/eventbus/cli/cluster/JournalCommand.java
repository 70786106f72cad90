package io.eventbus.cli.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.client.JournalBackupCommand;
import io.eventbus.cli.client.JournalRestoreCommand;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.TableText;
import io.eventbus.cli.console.Text;
import io.eventbus.server.config.ValueType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Operators' commands for the journals of durable topics. */
@Command(
    name = "journal",
    description = {
      "Shows and changes the journals of durable topics.",
      "Asks the administration port of a running bus. Changes need the role admin, the others"
          + " viewer. Backup and restore are clients of the bus."
    },
    subcommands = {
      JournalCommand.Create.class,
      JournalCommand.Change.class,
      JournalCommand.ListAll.class,
      JournalCommand.Show.class,
      JournalCommand.Lag.class,
      JournalCommand.Trim.class,
      JournalCommand.Purge.class,
      WorkQueueCommands.Consumers.class,
      WorkQueueCommands.Waiting.class,
      WorkQueueCommands.Dead.class,
      WorkQueueCommands.Redrive.class,
      JournalCommand.Delete.class,
      JournalBackupCommand.class,
      JournalRestoreCommand.class,
      JournalReplicaCommands.Replicas.class,
      JournalReplicaCommands.Replace.class
    })
public final class JournalCommand implements Runnable {
  private static final String ROOT = "/journals";

  @Spec CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(),
        "a command is missing: " + String.join(", ", spec.subcommands().keySet()));
  }

  /** Bus to ask, and the account. */
  abstract static class OfAccount implements Callable<Integer> {
    @Mixin RegistryOptions options = new RegistryOptions();

    @Option(
        names = "--account",
        paramLabel = "NAME",
        description = "Account of the journal (default: that of all that have none).")
    @Nullable String account;

    final CliContext context;

    OfAccount(CliContext context) {
      this.context = context;
    }

    /** Sends a request with the account and other parameters; those that are null are left out. */
    JsonNode send(String method, String path, Map<String, @Nullable String> parameters)
        throws InterruptedException {
      StringBuilder query = new StringBuilder();
      append(query, "account", account);
      parameters.forEach((name, value) -> append(query, name, value));
      return options.api(context).send(method, ROOT + path + query);
    }

    private static void append(StringBuilder query, String name, @Nullable String value) {
      if (value != null) {
        query
            .append(query.isEmpty() ? '?' : '&')
            .append(name)
            .append('=')
            .append(RegistryHttp.encoded(value));
      }
    }

    void print(JsonNode json, String told) {
      context.out().line(options.json ? json.toString() : told);
    }

    /**
     * Prints all pages of a list of the account: a table, or an object on each line.
     *
     * @param path with a query
     */
    void printAll(String path, TableText table, Row row) throws InterruptedException {
      String next = ROOT + path;
      if (account != null) {
        next += "&account=" + RegistryHttp.encoded(account);
      }
      while (true) {
        JsonNode json = options.api(context).get(next);
        for (JsonNode item : json.path("items")) {
          if (options.json) {
            context.out().line(item.toString());
          }
          table.row(row.of(item));
        }
        next = json.path("next").asText("");
        if (!next.startsWith("/api/v1" + ROOT)) {
          break;
        }
        next = next.substring("/api/v1".length());
      }
      if (!options.json) {
        table.lines().forEach(context.out()::line);
      }
    }
  }

  /** Cells of an item of a list. */
  interface Row {
    String[] of(JsonNode item);
  }

  /** Command for a single journal. */
  abstract static class OfJournal extends OfAccount {
    @Parameters(paramLabel = "JOURNAL", description = "Name of the journal.")
    String journal = "";

    OfJournal(CliContext context) {
      super(context);
    }

    String path() {
      // A path has no + for a space; names have no spaces.
      return "/" + RegistryHttp.encoded(journal);
    }
  }

  /** Definition of a journal. */
  private abstract static class OfDefinition extends OfJournal {
    @Option(
        names = "--max-age",
        paramLabel = "TIME",
        description = "How old an event gets, for example 7d; 0 for no bound.")
    @Nullable Duration maxAge;

    @Option(
        names = "--max-bytes",
        paramLabel = "SIZE",
        description = "How much the events may take, for example 10GiB; 0 for no bound.")
    @Nullable String maxBytes;

    @Option(
        names = "--max-events",
        paramLabel = "NUMBER",
        description = "How many events are kept; 0 for no bound.")
    @Nullable Long maxEvents;

    @Option(
        names = "--full",
        paramLabel = "WHAT",
        description =
            "What happens at --max-bytes or --max-events: drop-old removes the oldest events,"
                + " refuse refuses new ones.")
    @Nullable String full;

    OfDefinition(CliContext context) {
      super(context);
    }

    abstract @Nullable List<String> filters();

    Map<String, @Nullable String> parameters() {
      Map<String, @Nullable String> parameters = new LinkedHashMap<>();
      List<String> filters = filters();
      parameters.put("filters", filters == null ? null : String.join(" ", filters));
      parameters.put("max-age", maxAge == null ? null : maxAge.toMillis() + "ms");
      parameters.put("max-bytes", maxBytes == null ? null : bytes(maxBytes));
      parameters.put("max-events", maxEvents == null ? null : Long.toString(maxEvents));
      parameters.put("full", full);
      return parameters;
    }

    private static String bytes(String text) {
      try {
        return Long.toString(ValueType.SIZE.read(text));
      } catch (IllegalArgumentException | ArithmeticException e) {
        throw new CliFailure(
            ExitCode.USAGE,
            "--max-bytes: \""
                + Text.printable(text)
                + "\" (expected: "
                + ValueType.SIZE.expectation()
                + ")",
            e);
      }
    }
  }

  /** Creation of a journal. */
  @Command(
      name = "create",
      description = {
        "Creates a journal: from then on the bus stores the events of its topics.",
        "Does nothing if there is one with the same definition."
      })
  static final class Create extends OfDefinition {
    @Option(
        names = "--filter",
        required = true,
        paramLabel = "FILTER",
        description = "Topics whose events it keeps, for example 'orders.>'; may be given again.")
    List<String> filters = new ArrayList<>();

    @Option(
        names = "--keep",
        paramLabel = "WHICH",
        description = "all, or latest: only the last event of each topic (default: all).")
    @Nullable String keep;

    Create(CliContext context) {
      super(context);
    }

    @Override
    List<String> filters() {
      return filters;
    }

    @Override
    public Integer call() throws Exception {
      Map<String, @Nullable String> parameters = parameters();
      parameters.put("keep", keep);
      JsonNode json = send("PUT", path(), parameters);
      print(json, "Journal " + Text.printable(journal) + " keeps events.");
      return ExitCode.OK;
    }
  }

  /** Change of a journal. */
  @Command(
      name = "change",
      description = {
        "Changes the definition of a journal; what is not given stays.",
        "Other filters count for events that are published from then on."
      })
  static final class Change extends OfDefinition {
    @Option(
        names = "--filter",
        paramLabel = "FILTER",
        description = "Topics whose events it keeps, instead of those before; may be given again.")
    @Nullable List<String> filters;

    Change(CliContext context) {
      super(context);
    }

    @Override
    @Nullable List<String> filters() {
      return filters;
    }

    @Override
    public Integer call() throws Exception {
      JsonNode json = send("PUT", path() + "/definition", parameters());
      print(json, "Journal " + Text.printable(journal) + " is changed.");
      return ExitCode.OK;
    }
  }

  /** Table of the journals. */
  @Command(name = "list", description = "Lists the journals of all accounts, or of one.")
  static final class ListAll extends OfAccount {
    ListAll(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      TableText table = new TableText();
      table.row("ACCOUNT", "JOURNAL", "KEEP", "MAX AGE", "MAX BYTES", "MAX EVENTS", "FILTERS");
      printAll(
          "?limit=1000",
          table,
          item ->
              new String[] {
                item.path("account").asText(),
                item.path("name").asText(),
                item.path("keep").asText(),
                age(item.path("maxAgeMillis").asLong()),
                bound(item.path("maxBytes").asLong()),
                bound(item.path("maxEvents").asLong()),
                words(item.path("filters"))
              });
      return ExitCode.OK;
    }
  }

  private static String age(long millis) {
    return millis == 0 ? "-" : ValueType.time(Duration.ofMillis(millis));
  }

  private static String bound(long value) {
    return value == 0 ? "-" : Long.toString(value);
  }

  private static String words(JsonNode texts) {
    List<String> all = new ArrayList<>();
    texts.forEach(text -> all.add(text.asText()));
    return String.join(" ", all);
  }

  /** Content of a journal. */
  @Command(name = "show", description = "Shows the definition of a journal and what it holds.")
  static final class Show extends OfJournal {
    Show(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      JsonNode json = send("GET", path(), Map.of());
      if (options.json) {
        context.out().line(json.toString());
        return ExitCode.OK;
      }
      JsonNode of = json.path("journal");
      JsonNode content = json.path("content");
      TableText table = new TableText();
      table.row("journal", of.path("name").asText());
      table.row("account", of.path("account").asText());
      table.row("number", of.path("number").asText());
      table.row("filters", words(of.path("filters")));
      table.row("keep", of.path("keep").asText());
      table.row("max age", age(of.path("maxAgeMillis").asLong()));
      table.row("max bytes", bound(of.path("maxBytes").asLong()));
      table.row("max events", bound(of.path("maxEvents").asLong()));
      table.row("full", of.path("full").asText());
      table.row(
          "positions",
          content.path("firstPosition").asText() + " to " + content.path("lastPosition").asText());
      for (String figure :
          List.of("events", "bytes", "topics", "producers", "delayed", "cursors")) {
        table.row(figure, content.path(figure).asText());
      }
      table.row("time", json.path("time").asText());
      table.lines().forEach(context.out()::line);
      return ExitCode.OK;
    }
  }

  /** Lag of the durable subscriptions. */
  @Command(
      name = "lag",
      description = {
        "Lists the durable subscriptions of a journal, and how far each is behind.",
        "LAG counts positions, whether or not the filter has their topics. OLDEST tells when the"
            + " first of them was stored.",
        "Of a shared subscription IN FLIGHT is with consumers, WAITING comes again, DEAD does not."
      })
  static final class Lag extends OfJournal {
    Lag(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      TableText table = new TableText();
      table.row(
          "SUBSCRIPTION",
          "FILTER",
          "SETTLED",
          "LAG",
          "OLDEST",
          "MODE",
          "CONSUMERS",
          "IN FLIGHT",
          "WAITING",
          "DEAD",
          "LAST USED");
      printAll(
          path() + "/cursors?limit=1000",
          table,
          item ->
              new String[] {
                item.path("name").asText(),
                item.path("filter").asText(),
                item.path("settled").asText(),
                item.path("lag").asText(),
                item.path("oldest").asText("-"),
                item.path("mode").asText(),
                item.path("consumers").asText(),
                item.path("inFlight").asText(),
                item.path("waiting").asText(),
                item.path("dead").asText(),
                item.path("lastUsed").asText()
              });
      return ExitCode.OK;
    }
  }

  /** Removal of the oldest events. */
  @Command(
      name = "trim",
      description = "Removes the oldest events of a journal, in whole chunks of up to 32 KiB.")
  static final class Trim extends OfJournal {
    @Option(
        names = "--up-to",
        required = true,
        paramLabel = "POSITION",
        description = "The last position that is not needed any longer.")
    long upTo;

    Trim(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      JsonNode json = send("PUT", path() + "/trim", Map.of("up-to", Long.toString(upTo)));
      print(
          json,
          "Journal "
              + Text.printable(journal)
              + " begins at position "
              + json.path("firstPosition").asText()
              + ".");
      return ExitCode.OK;
    }
  }

  /** Removal of single events. */
  @Command(
      name = "purge",
      description = {
        "Removes the events of a topic, or of a range of positions, from a journal.",
        "Their positions stay, and readers are told."
      })
  static final class Purge extends OfJournal {
    @Option(names = "--topic", paramLabel = "TOPIC", description = "Only events of this topic.")
    @Nullable String topic;

    @Option(names = "--from", paramLabel = "POSITION", description = "The first position.")
    @Nullable Long from;

    @Option(names = "--to", paramLabel = "POSITION", description = "The last position.")
    @Nullable Long to;

    Purge(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      Map<String, @Nullable String> parameters = new LinkedHashMap<>();
      parameters.put("topic", topic);
      parameters.put("from", from == null ? null : Long.toString(from));
      parameters.put("to", to == null ? null : Long.toString(to));
      JsonNode json = send("PUT", path() + "/purge", parameters);
      long events = json.path("events").asLong();
      print(json, events == 1 ? "1 event is removed." : events + " events are removed.");
      return ExitCode.OK;
    }
  }

  /** Deletion of a journal. */
  @Command(
      name = "delete",
      description = "Deletes a journal with all of its events and durable subscriptions.")
  static final class Delete extends OfJournal {
    Delete(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      JsonNode json = send("DELETE", path(), Map.of());
      print(json, "Journal " + Text.printable(journal) + " is deleted.");
      return ExitCode.OK;
    }
  }
}
