package io.eventbus.cli.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Text;
import io.eventbus.registry.BusId;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that change a running registry. None of them can cost it its majority. */
final class RegistryEdit {
  private RegistryEdit() {}

  /** Common part of these commands: a request, and a line that it is done. */
  abstract static class Change implements Callable<Integer> {
    @Mixin RegistryOptions options = new RegistryOptions();

    private final CliContext context;

    Change(CliContext context) {
      this.context = context;
    }

    final Integer ask(String method, String path, String done) throws InterruptedException {
      JsonNode json = options.http(context).send(method, path);
      context
          .out()
          .line(
              options.json
                  ? json.toString()
                  : done.replace("{}", Text.printable(json.path("bus").asText()))
                      .replace("{index}", json.path("index").asText()));
      return ExitCode.OK;
    }

    static String bus(String name) {
      try {
        return new BusId(name).value();
      } catch (IllegalArgumentException e) {
        throw new CliFailure(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
      }
    }
  }

  /** Transfer of the leadership to a voter. */
  @Command(name = "transfer", description = "Hands the leadership to another voter.")
  static final class Transfer extends Change {
    @Parameters(paramLabel = "BUS", description = "The voter that is to lead.")
    String bus = "";

    Transfer(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      return ask("PUT", "/leader/" + bus(bus), "Bus " + bus + " leads.");
    }
  }

  /** Invitation of a bus. */
  @Command(
      name = "add",
      description =
          "Invites a bus that was started with --join and waits for others; it then listens.")
  static final class Add extends Change {
    @Parameters(
        paramLabel = "HOST:PORT",
        description = "Where the bus takes links of other buses (cluster.port).")
    String address = "";

    Add(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      return ask("PUT", "/members?address=" + RegistryHttp.encoded(address), "Bus {} is a member.");
    }
  }

  /** Removal of a bus that is not coming back. */
  @Command(
      name = "remove",
      description = "Takes a bus that is DOWN and not coming back out of the members.")
  static final class Remove extends Change {
    @Parameters(paramLabel = "BUS", description = "The bus; stop it first.")
    String bus = "";

    Remove(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      return ask("DELETE", "/members/" + bus(bus), "Bus " + bus + " is no member any more.");
    }
  }

  /** Promotion of a listener to a voter. */
  @Command(
      name = "promote",
      description = "Gives a vote to a bus that listens, in place of another one's.")
  static final class Promote extends Change {
    @Parameters(paramLabel = "BUS", description = "The bus that is to vote.")
    String bus = "";

    @Option(
        names = "--instead-of",
        paramLabel = "BUS",
        description = "Who loses its vote (default: whom the rule for zones would choose).")
    @Nullable String other;

    Promote(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      String query = other == null ? "" : "?instead-of=" + bus(other);
      return ask("PUT", "/voters/" + bus(bus) + query, "Bus " + bus + " votes.");
    }
  }

  /** Demotion of a voter. */
  @Command(
      name = "demote",
      description = "Moves the vote of a bus to another one; the bus goes on listening.")
  static final class Demote extends Change {
    @Parameters(paramLabel = "BUS", description = "The bus that is to listen only.")
    String bus = "";

    Demote(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      return ask("DELETE", "/voters/" + bus(bus), "Bus " + bus + " votes no more.");
    }
  }

  /** Snapshot of the registry. */
  @Command(
      name = "snapshot",
      description = "Takes a snapshot on the disk of the bus that is asked, now.")
  static final class Snapshot extends Change {
    Snapshot(CliContext context) {
      super(context);
    }

    @Override
    public Integer call() throws Exception {
      return ask("PUT", "/snapshot", "There is a snapshot up to entry {index} of the log.");
    }
  }
}
