package io.eventbus.cli.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.cli.config.ConfigOptions;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.TableText;
import io.eventbus.registry.ratis.disk.OfflineRegistry.Founded;
import io.eventbus.registry.ratis.disk.OfflineRegistry.Survivor;
import io.eventbus.server.cluster.OfflineBus;
import io.eventbus.server.config.ServerConfig;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Commands for the directory of a bus that does not run. */
final class RegistryOffline {
  private RegistryOffline() {}

  /** Begins a new cluster from a backup. */
  @Command(
      name = "restore",
      description = {
        "Founds a new cluster from a backup, in the empty directory of its first bus.",
        "Start that bus then, and let others with empty directories join it."
      })
  static final class Restore implements Callable<Integer> {
    @Mixin ConfigOptions config = new ConfigOptions();
    @Spec CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "FILE", description = "The backup.")
    Path file = Path.of("registry.backup");

    @Option(names = "--json", description = "Prints what was founded as JSON.")
    boolean json;

    private final CliContext context;

    Restore(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws Exception {
      ServerConfig bus = config.load(spec, context.variables()).config();
      Founded founded = OfflineBus.restore(bus, file);
      context.out().line(json ? json(founded) : text(founded));
      return ExitCode.OK;
    }

    private static String text(Founded founded) {
      return "Founded the cluster "
          + founded.cluster()
          + " from a backup of "
          + (founded.formerCluster().isEmpty() ? "a bus alone" : founded.formerCluster())
          + ": "
          + founded.registry().topics().size()
          + " topics, "
          + founded.registry().buses().size()
          + " buses, which are DOWN until they register again. Start bus "
          + founded.bus()
          + ".";
    }
  }

  /** Recovery with what one bus holds after the majority was lost. */
  @Command(
      name = "recover",
      description = {
        "The last resort when the majority of the voters is lost for good: makes a bus that does"
            + " not run the only voter of a new cluster with what it holds.",
        "What others had acknowledged and this bus does not hold is lost. Of several survivors take"
            + " the one with the greatest term, and then the greatest index: --dry-run shows them."
      })
  static final class Recover implements Callable<Integer> {
    @Mixin ConfigOptions config = new ConfigOptions();
    @Spec CommandSpec spec = CommandSpec.create();

    @Option(names = "--dry-run", description = "Only shows what the bus holds.")
    boolean dry;

    @Option(
        names = "--confirm",
        paramLabel = "NAME",
        description = "Name of the cluster (cluster.id), instead of typing it when asked.")
    @Nullable String confirm;

    @Option(names = "--json", description = "Prints what was found and founded as JSON.")
    boolean json;

    private final CliContext context;

    Recover(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws Exception {
      ServerConfig bus = config.load(spec, context.variables()).config();
      Survivor survivor = OfflineBus.inspect(bus);
      if (json) {
        context.out().line(RegistryOffline.json(survivor));
      } else {
        lines(bus, survivor).forEach(context.out()::line);
      }
      if (dry) {
        return ExitCode.OK;
      }
      String name = bus.cluster().id();
      if (!name.equals(confirm != null ? confirm : typed(name))) {
        throw new CliFailure(
            ExitCode.USAGE,
            "not confirmed (expected: the name of the cluster, " + name + "); nothing was changed");
      }
      Founded founded = OfflineBus.recover(bus, survivor);
      context.out().line(json ? RegistryOffline.json(founded) : text(founded));
      return ExitCode.OK;
    }

    private static List<String> lines(ServerConfig bus, Survivor survivor) {
      return new TableText()
          .row("directory", OfflineBus.directory(bus).toString())
          .row("cluster", bus.cluster().id() + ", " + survivor.cluster())
          .row("bus", survivor.bus().value())
          .row("last entry", "term " + survivor.term() + ", index " + survivor.index())
          .row("voters", String.join(", ", survivor.voters()))
          .row("listeners", String.join(", ", survivor.listeners()))
          .row(
              "registry",
              "version "
                  + survivor.registry().version()
                  + ", "
                  + survivor.registry().buses().size()
                  + " buses, "
                  + survivor.registry().topics().size()
                  + " topics")
          .lines();
    }

    private @Nullable String typed(String name) throws IOException {
      context
          .err()
          .println(
              """
              eventbus: WARNING: this gives up the cluster and founds a new one with what this bus holds.
              eventbus: - Whatever other buses had acknowledged and this one does not hold is LOST.
              eventbus: - Buses of the old cluster cannot come back but with empty directories.
              eventbus: - If a majority of the voters can still be started, do that instead.\
              """);
      context.err().print("eventbus: type the name of the cluster (" + name + ") to go on: ");
      context.err().flush();
      BufferedReader in =
          new BufferedReader(new InputStreamReader(context.in(), StandardCharsets.UTF_8));
      String line = in.readLine();
      return line == null ? null : line.strip();
    }

    private static String text(Founded founded) {
      return "Founded the cluster "
          + founded.cluster()
          + " with bus "
          + founded.bus()
          + " as its only voter. The old files are in "
          + founded.kept()
          + ". Start the bus, then the others with empty directories.";
    }
  }

  private static String json(Founded founded) {
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("cluster", founded.cluster());
    json.put("bus", founded.bus().value());
    json.put("formerCluster", founded.formerCluster());
    json.put("version", founded.registry().version());
    json.put("buses", founded.registry().buses().size());
    json.put("topics", founded.registry().topics().size());
    json.put("kept", founded.kept());
    return json.toString();
  }

  private static String json(Survivor survivor) {
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("cluster", survivor.cluster());
    json.put("bus", survivor.bus().value());
    json.put("term", survivor.term());
    json.put("index", survivor.index());
    survivor.voters().forEach(json.putArray("voters")::add);
    survivor.listeners().forEach(json.putArray("listeners")::add);
    json.put("version", survivor.registry().version());
    json.put("buses", survivor.registry().buses().size());
    json.put("topics", survivor.registry().topics().size());
    return json.toString();
  }
}
