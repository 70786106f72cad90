package io.eventbus.cli.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.TableText;
import io.eventbus.cli.console.Text;
import io.eventbus.registry.BusId;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that show the load of the buses and move clients between them. */
public final class BalanceCommands {
  private static final long POLL_MILLIS = 250;

  private BalanceCommands() {}

  /** Returns a number of clients, for people. */
  static String count(long clients) {
    return clients == 1 ? "1 client" : clients + " clients";
  }

  private static String bus(String name) {
    try {
      return new BusId(name).value();
    } catch (IllegalArgumentException e) {
      throw new CliFailure(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  /** Table of the buses. */
  @Command(
      name = "buses",
      description =
          "Lists the buses of the cluster: state, load, clients, as one of them knows it.")
  public static final class Buses implements Callable<Integer> {
    @Mixin RegistryOptions options = new RegistryOptions();

    private final CliContext context;

    Buses(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws Exception {
      JsonNode json = options.api(context).get("/buses");
      if (options.json) {
        context.out().line(json.toString());
        return ExitCode.OK;
      }
      TableText table = new TableText();
      table.row("BUS", "ZONE", "STATE", "LOAD", "CLIENTS", "");
      for (JsonNode bus : json.path("items")) {
        table.row(row(bus));
      }
      table.lines().forEach(context.out()::line);
      return ExitCode.OK;
    }

    /** Returns a bus's row; the last report of a bus that is DOWN is not true any more. */
    static String[] row(JsonNode bus) {
      String state = Text.printable(bus.path("state").asText());
      boolean down = state.equals("DOWN");
      double load = bus.path("load").asDouble();
      long clients = bus.path("clients").asLong();
      String shownLoad = load < 0 ? "?" : String.format(Locale.ROOT, "%.0f %%", load * 100);
      String shownClients = clients < 0 ? "?" : Long.toString(clients);
      String notes =
          (bus.path("overloaded").asBoolean() ? "overloaded " : "")
              + (bus.path("draining").asBoolean() ? "draining" : "");
      return new String[] {
        Text.printable(bus.path("bus").asText()),
        Text.printable(bus.path("zone").asText()),
        state,
        down ? "-" : shownLoad,
        down ? "-" : shownClients,
        down ? "" : notes
      };
    }
  }

  /** Drain of a bus. */
  @Command(
      name = "drain",
      description = {
        "Sends all clients of a bus to others, and new ones away from it, without losing an event.",
        "The bus stays, with no clients, until it is stopped or told to take clients again"
            + " (--undo)."
      },
      footer = {
        "",
        "With --for-good its vote on the journals and its replica of them are given up, too, and it"
            + " leaves the registry when it is stopped. Refused where too few replicas would be"
            + " left."
      })
  public static final class Drain implements Callable<Integer> {
    @Mixin RegistryOptions options = new RegistryOptions();

    @Parameters(paramLabel = "BUS", description = "The bus.")
    String bus = "";

    @Option(names = "--undo", description = "Lets the bus take clients again.")
    boolean undo;

    @Option(
        names = "--for-good",
        description = "Prepares the bus to leave the cluster for good when it is stopped.")
    boolean forGood;

    @Option(
        names = "--wait",
        paramLabel = "TIME",
        defaultValue = "60s",
        description =
            "How long to wait until the last client is gone; 0 does not wait (default:"
                + " ${DEFAULT-VALUE}).")
    Duration wait = Duration.ofSeconds(60);

    private final CliContext context;

    Drain(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws Exception {
      RegistryHttp http = options.api(context);
      String name = bus(bus);
      if (forGood && (undo || wait.isZero())) {
        throw new CliFailure(
            ExitCode.USAGE, "--for-good with --undo or --wait 0 (expected: one of them)");
      }
      boolean replicas = forGood && !http.get("/shards").path("items").isEmpty();
      if (replicas) {
        // First: it may be refused, and then nothing has begun.
        JsonNode unused =
            http.sendUntilDone("DELETE", "/shards/votes/" + name + "?leaves=true", wait);
      }
      JsonNode json =
          http.send(undo ? "DELETE" : "PUT", "/drains/" + name + (forGood ? "/for-good" : ""));
      String warning = json.path("warning").asText("");
      if (!warning.isEmpty()) {
        context.err().println("eventbus: warning: " + Text.printable(warning));
      }
      if (undo || wait.isZero()) {
        context
            .out()
            .line(
                options.json
                    ? json.toString()
                    : "Bus " + name + (undo ? " takes clients again." : " drains."));
        return ExitCode.OK;
      }
      long left = awaitEmpty(http, name);
      if (left != 0) {
        throw new CliFailure(
            ExitCode.FAILED,
            "bus "
                + name
                + " still has "
                + (left < 0 ? "an unknown number of clients" : count(left))
                + " after "
                + wait.toMillis()
                + " ms; it goes on");
      }
      if (replicas) {
        JsonNode unused = http.sendUntilDone("DELETE", "/shards/replicas/" + name, wait);
      }
      String done = "Bus " + name + " has no clients" + (replicas ? " and no replica." : ".");
      context
          .out()
          .line(
              options.json
                  ? "{\"bus\":\"" + name + "\",\"clients\":0}"
                  : forGood ? done + " Stop it: it leaves the cluster for good." : done);
      return ExitCode.OK;
    }

    /** Returns how many clients are left; -1 if the bus has not told. */
    private long awaitEmpty(RegistryHttp http, String name) throws InterruptedException {
      long end = System.nanoTime() + wait.toNanos();
      long told = Long.MIN_VALUE;
      while (true) {
        long left = clients(http, name);
        if (left == 0 || System.nanoTime() - end >= 0) {
          return left;
        }
        if (left != told && left > 0 && !options.json) {
          context.out().line(count(left) + (left == 1 ? " is left" : " are left"));
        }
        told = left;
        Thread.sleep(POLL_MILLIS);
      }
    }

    private static long clients(RegistryHttp http, String name) throws InterruptedException {
      for (JsonNode bus : http.get("/buses").path("items")) {
        // Only reports from after its beginning.
        if (bus.path("bus").asText().equals(name) && bus.path("draining").asBoolean()) {
          return bus.path("clients").asLong();
        }
      }
      return -1;
    }
  }

  /** Move of a client. */
  @Command(
      name = "move",
      description = "Asks a client of the bus to go to another bus, without losing an event.")
  public static final class Move implements Callable<Integer> {
    @Mixin RegistryOptions options = new RegistryOptions();

    @Parameters(
        paramLabel = "CONNECTION",
        description = "The number of its connection, as /api/v1/connections shows it.")
    long connection;

    @Option(
        names = "--to",
        paramLabel = "BUS",
        description = "Where to (default: the bus with the least load).")
    String target = "";

    private final CliContext context;

    Move(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws Exception {
      String query = target.isEmpty() ? "" : "?to=" + RegistryHttp.encoded(bus(target));
      JsonNode json = options.api(context).send("PUT", "/moves/" + connection + query);
      context
          .out()
          .line(
              options.json
                  ? json.toString()
                  : "Connection "
                      + connection
                      + " was asked to go to "
                      + Text.printable(json.path("bus").asText())
                      + ".");
      return ExitCode.OK;
    }
  }
}
