package io.eventbus.cli.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.cluster.JournalCommand.OfJournal;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.TableText;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Commands that tell what becomes of the events of shared durable subscriptions. */
final class WorkQueueCommands {
  private WorkQueueCommands() {}

  /** Command for a shared durable subscription. */
  private abstract static class OfDurable extends OfJournal {
    @Option(
        names = "--durable",
        required = true,
        paramLabel = "NAME",
        description = "Name of the shared durable subscription.")
    String durable = "";

    OfDurable(CliContext context) {
      super(context);
    }

    /**
     * Prints a list of the subscription as a table.
     *
     * @param columns headings, which are the names of the fields in capitals
     */
    int printList(String resource, String... columns) throws Exception {
      TableText table = new TableText();
      table.row(columns);
      printAll(
          path() + "/" + resource + "?limit=1000&durable=" + RegistryHttp.encoded(durable),
          table,
          item ->
              Stream.of(columns)
                  .map(column -> item.path(column.toLowerCase(Locale.ROOT)).asText())
                  .toArray(String[]::new));
      return ExitCode.OK;
    }
  }

  /** List of the consumers. */
  @Command(
      name = "consumers",
      description = {
        "Lists the consumers of a shared durable subscription, at all buses.",
        "EVENTS is how many each has got and has not settled, OLDEST the position of the first."
      })
  static final class Consumers extends OfDurable {
    Consumers(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      return printList("consumers", "NUMBER", "BUS", "EVENTS", "OLDEST");
    }
  }

  /** List of what waits for another delivery. */
  @Command(
      name = "waiting",
      description = {
        "Lists the events of a shared durable subscription that wait for another delivery: for"
            + " their time, or for a consumer.",
        "ATTEMPT is the number of that delivery."
      })
  static final class Waiting extends OfDurable {
    Waiting(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      return printList("waiting", "FROM", "TO", "ATTEMPT", "DUE");
    }
  }

  /** List of the dead letters. */
  @Command(
      name = "dead",
      description = {
        "Lists the dead letters of a shared durable subscription: those that were rejected, or were"
            + " delivered too often without success.",
        "No consumer gets them. They stay in the journal until retention or purge removes them."
      })
  static final class Dead extends OfDurable {
    Dead(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      return printList("dead", "POSITION", "ATTEMPTS", "TIME", "REASON");
    }
  }

  /** Return of the dead letters to the consumers. */
  @Command(
      name = "redrive",
      description = {
        "Gives the dead letters of a shared durable subscription to its consumers again, as if they"
            + " had never been delivered.",
        "Without --from and --to it does so with all of them."
      })
  static final class Redrive extends OfDurable {
    @Option(names = "--from", paramLabel = "POSITION", description = "The first position.")
    @Nullable Long from;

    @Option(names = "--to", paramLabel = "POSITION", description = "The last position.")
    @Nullable Long to;

    @Option(
        names = "--discard",
        description = "Takes the events from the subscription instead; they stay in the journal.")
    boolean discard;

    Redrive(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      Map<String, @Nullable String> parameters = new LinkedHashMap<>();
      parameters.put("durable", durable);
      parameters.put("from", from == null ? null : Long.toString(from));
      parameters.put("to", to == null ? null : Long.toString(to));
      parameters.put("discard", discard ? "true" : null);
      JsonNode json = send("PUT", path() + "/redrive", parameters);
      long events = json.path("events").asLong();
      String count = events == 1 ? "1 event" : events + " events";
      String are = events == 1 ? " is" : " are";
      String were = events == 1 ? " was" : " were";
      print(json, count + (discard ? were + " discarded." : are + " given out again."));
      return ExitCode.OK;
    }
  }
}
