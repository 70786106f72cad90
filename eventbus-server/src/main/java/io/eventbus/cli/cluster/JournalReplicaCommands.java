package io.eventbus.cli.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.TableText;
import io.eventbus.cli.console.Text;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Commands that show the replicas of the journals and move their votes. */
final class JournalReplicaCommands {
  /** Time for a vote to move: until replicas have caught up with the change of members. */
  private static final Duration WAIT = Duration.ofSeconds(60);

  private JournalReplicaCommands() {}

  /** Table of the replicas. */
  @Command(
      name = "replicas",
      description = {
        "Lists the buses with a replica of the journals, as one of them knows it.",
        "BEHIND counts committed entries, and is known of all at the leader."
      })
  static final class Replicas implements Callable<Integer> {
    @Mixin RegistryOptions options = new RegistryOptions();

    private final CliContext context;

    Replicas(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws Exception {
      JsonNode json = options.api(context).get("/shards");
      if (options.json) {
        context.out().line(json.toString());
        return ExitCode.OK;
      }
      TableText table = new TableText();
      table.row("BUS", "GENERATION", "ROLE", "BEHIND", "");
      for (JsonNode shard : json.path("items")) {
        for (JsonNode member : shard.path("members")) {
          String bus = member.path("bus").asText();
          String role = member.path("voter").asBoolean() ? "votes" : "follows";
          long behind = member.path("behind").asLong();
          table.row(
              Text.printable(bus),
              member.path("generation").asText(),
              bus.equals(shard.path("leader").asText()) ? "leads" : role,
              behind < 0 ? "?" : Long.toString(behind),
              member.path("needsCopy").asBoolean() ? "needs a copy" : "");
        }
      }
      table.lines().forEach(context.out()::line);
      return ExitCode.OK;
    }
  }

  /** Move of a vote away from a bus. */
  @Command(
      name = "replace",
      description = {
        "Moves the vote of a bus on the journals to one that only follows, without waiting for"
            + " durable.replace-after.",
        "The bus goes on following if it is there."
      })
  static final class Replace implements Callable<Integer> {
    @Mixin RegistryOptions options = new RegistryOptions();

    @Parameters(paramLabel = "BUS", description = "The bus that is to lose its vote.")
    String bus = "";

    private final CliContext context;

    Replace(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws Exception {
      String name = RegistryEdit.Change.bus(bus);
      JsonNode json = options.api(context).sendUntilDone("DELETE", "/shards/votes/" + name, WAIT);
      context
          .out()
          .line(options.json ? json.toString() : "Bus " + name + " has no vote on the journals.");
      return ExitCode.OK;
    }
  }
}
