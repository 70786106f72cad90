package io.eventbus.cli.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.TableText;
import io.eventbus.cli.console.Text;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Commands that show the registry and change nothing. */
final class RegistryShow {
  private RegistryShow() {}

  /** Registry as a bus sees it. */
  @Command(name = "status", description = "Shows how the registry looks from one bus.")
  static final class Status implements Callable<Integer> {
    @Mixin RegistryOptions options = new RegistryOptions();

    private final CliContext context;

    Status(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws Exception {
      JsonNode json = options.http(context).get("");
      if (options.json) {
        context.out().line(json.toString());
        return ExitCode.OK;
      }
      JsonNode log = json.path("log");
      JsonNode commits = json.path("commits");
      new TableText()
          .row("cluster", text(json, "cluster"))
          .row("bus", text(json, "bus"))
          .row("role", text(json, "role"))
          .row("leader", text(json, "leader"))
          .row("term", text(json, "term"))
          .row("leader changes", text(json, "leaderChanges") + " since this bus started")
          .row("members", json.path("changing").asBoolean() ? "are being changed" : "stable")
          .row("version", text(json, "version"))
          .row(
              "log",
              text(log, "entries")
                  + " entries, "
                  + text(log, "bytes")
                  + " bytes, applied "
                  + text(log, "appliedIndex")
                  + ", behind by "
                  + text(log, "applyLag"))
          .row("snapshot", text(log, "snapshotIndex"))
          .row("lease", "renewed " + seconds(json.path("leaseAgeMillis")) + " ago")
          .row("leader heard", seconds(json.path("silenceMillis")) + " ago")
          .row(
              "commits",
              text(commits, "count")
                  + " while this bus led, p50 "
                  + text(commits, "p50Millis")
                  + " ms, p99 "
                  + text(commits, "p99Millis")
                  + " ms, longest "
                  + text(commits, "maxMillis")
                  + " ms")
          .lines()
          .forEach(context.out()::line);
      return ExitCode.OK;
    }
  }

  /** List of the members. */
  @Command(
      name = "members",
      description = "Lists the members, also without a majority: who leads, votes and listens.")
  static final class Members implements Callable<Integer> {
    @Mixin RegistryOptions options = new RegistryOptions();

    private final CliContext context;

    Members(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws Exception {
      JsonNode json = options.http(context).get("/members");
      if (options.json) {
        context.out().line(json.toString());
        return ExitCode.OK;
      }
      TableText table =
          new TableText()
              .row("BUS", "ROLE", "STATE", "NUMBER", "ZONE", "LOG", "LEASE", "VERSION", "LINKS");
      for (JsonNode member : json.path("items")) {
        table.row(
            text(member, "bus"),
            text(member, "role"),
            text(member, "state"),
            text(member, "number"),
            text(member, "zone"),
            member.path("logIndex").asLong() < 0 ? "-" : text(member, "logIndex"),
            seconds(member.path("leaseLeftMillis")),
            text(member, "version"),
            text(member, "address"));
      }
      table.lines().forEach(context.out()::line);
      return ExitCode.OK;
    }
  }

  /** Name of the leader. */
  @Command(
      name = "leader",
      description = "Names the bus that leads; without one it ends with exit code 1.")
  static final class Leader implements Callable<Integer> {
    @Mixin RegistryOptions options = new RegistryOptions();

    private final CliContext context;

    Leader(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws Exception {
      JsonNode json = options.http(context).get("/leader");
      boolean known = !json.path("leader").isNull();
      if (options.json) {
        context.out().line(json.toString());
      } else if (known) {
        context.out().line(text(json, "leader"));
      }
      if (!known) {
        throw new CliFailure(
            ExitCode.FAILED,
            "no leader is known (expected: that a majority of the voters reach each other)");
      }
      return ExitCode.OK;
    }
  }

  /** Stream of changes. */
  @Command(
      name = "watch",
      description = "Tells of changes of the registry as they come, one in a line, until stopped.")
  static final class Watch implements Callable<Integer> {
    private static final int WAIT_MILLIS = 5_000;

    @Mixin RegistryOptions options = new RegistryOptions();
    @Spec CommandSpec spec = CommandSpec.create();

    @Option(
        names = {"-n", "--count"},
        paramLabel = "N",
        description = "Ends after so many changes.")
    @Nullable Long count;

    private final CliContext context;

    Watch(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws Exception {
      if (count != null && count < 1) {
        throw new ParameterException(
            spec.commandLine(), "--count: " + count + " (expected: 1 or more)");
      }
      RegistryHttp http = options.http(context);
      long left = count == null ? Long.MAX_VALUE : count;
      long version = http.get("/changes").path("version").asLong();
      context.err().println("eventbus: watching the registry from version " + version + " on");
      while (left > 0) {
        JsonNode json = http.get("/changes?after=" + version + "&wait=" + WAIT_MILLIS);
        if (json.path("missed").asBoolean()) {
          context.err().println("eventbus: some changes were missed");
        }
        version = json.path("version").asLong();
        for (JsonNode item : json.path("items")) {
          if (left-- > 0) {
            context
                .out()
                .line(
                    options.json
                        ? item.toString()
                        : text(item, "version") + "  " + text(item, "change"));
          }
        }
      }
      return ExitCode.OK;
    }
  }

  static String text(JsonNode json, String name) {
    JsonNode value = json.path(name);
    String text = value.isMissingNode() || value.isNull() ? "" : value.asText();
    return text.isEmpty() ? "-" : Text.printable(text);
  }

  private static String seconds(JsonNode millis) {
    return millis.isNumber()
        ? String.format(Locale.ROOT, "%.1f s", millis.asLong() / 1_000.0)
        : "-";
  }
}
