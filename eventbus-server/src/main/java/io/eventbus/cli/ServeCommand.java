package io.eventbus.cli;

import io.eventbus.cli.config.ConfigOptions;
import io.eventbus.cli.console.BusLauncher.RunningBus;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.HangUp;
import io.eventbus.cli.console.StopHook;
import io.eventbus.server.config.BuildInfo;
import io.eventbus.server.config.ClientScope;
import io.eventbus.server.config.EffectiveConfig;
import io.eventbus.server.config.LogConfig;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.config.ValueType;
import java.io.IOException;
import java.security.Security;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Runs a bus until the process is told to stop. */
@Command(
    name = "serve",
    description = {
      "Starts a bus and serves until it is stopped (Ctrl-C or SIGTERM).",
      "A stopping bus takes no new clients, delivers what is queued, and closes the others."
    })
final class ServeCommand implements Callable<Integer> {
  private static final Logger LOG = LoggerFactory.getLogger("eventbus");

  @Mixin ConfigOptions options = new ConfigOptions();

  @Option(
      names = "--end-with",
      paramLabel = "PROCESS",
      hidden = true,
      description = "Ends at once, not in order, when the process of this number does.")
  @Nullable Long endWith;

  @ParentCommand EventBusCommand parent = new EventBusCommand();
  @Spec CommandSpec spec = CommandSpec.create();

  private final CliContext context;

  ServeCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    if (endWith != null) {
      endWith(endWith);
    }
    EffectiveConfig effective = options.load(spec, context.variables());
    ServerConfig config = effective.config();
    LogSetup.configure(
        parent.common.debug
            ? new LogConfig(LogConfig.Level.DEBUG, config.log().format())
            : config.log());
    LogSetup.audit(config.audit());
    effective.warnings().forEach(LOG::warn);
    warnOfSecretsInFlags(effective);
    if (config.cluster().enabled()) {
      lookNamesUpAgain();
    }
    RunningBus bus = start(config);
    UnusedHeap heap = UnusedHeap.giveBack();
    StopHook hook = new StopHook(() -> stop(bus));
    if (!context.terminal()) {
      HangUp.handle(bus::reload);
    }
    try {
      LOG.info("{}", startLine(config, bus));
      if (config.anonymousClients() == ClientScope.EVERYONE
          && !isLoopback(config.listen().host())) {
        LOG.warn(
            "Everybody who can reach {} may publish and subscribe: auth.anonymous is everyone",
            config.listen().host());
      } else if (!config.authenticates() && !isLoopback(config.listen().host())) {
        LOG.info(
            "Clients of this machine only: set auth.token, auth.users-file, auth.jwt.* or"
                + " tls.client-ca to authenticate others, or auth.anonymous=everyone");
      }
      if (bus.adminPort() >= 0
          && !config.admin().access().encrypted()
          && !isLoopback(config.admin().host())) {
        LOG.warn(
            "The administration port {}:{} is not encrypted (admin.plaintext): what is not between"
                + " it and the operators' machines alone can read their tokens",
            config.admin().host(),
            bus.adminPort());
      }
      // Only a signal ends it otherwise. There is no orderly end: a bus that has failed cannot
      // deliver.
      throw new CliFailure(
          ExitCode.FAILED, "The bus has failed: " + bus.failed().toCompletableFuture().get());
    } catch (InterruptedException e) {
      stop(bus);
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new IllegalStateException("a failure is told by its reason", e);
    } finally {
      hook.close();
      heap.close();
    }
    return ExitCode.OK;
  }

  private static void warnOfSecretsInFlags(EffectiveConfig config) {
    for (EffectiveConfig.Setting setting : config.settings()) {
      if (setting.key().type() == ValueType.SECRET && setting.origin().startsWith("flag")) {
        LOG.warn(
            "{} is given in a flag, which other users of this machine can read: use {}-file",
            setting.key().key(),
            setting.key().key());
      }
    }
  }

  /**
   * Ends with another process, so that nothing is left of a launcher of buses that is killed before
   * it can end them.
   */
  private static void endWith(long pid) {
    Runnable end = () -> Runtime.getRuntime().halt(ExitCode.FAILED);
    Optional<ProcessHandle> process = ProcessHandle.of(pid);
    if (process.isPresent()) {
      var unused = process.get().onExit().thenRun(end);
    } else {
      end.run();
    }
  }

  private RunningBus start(ServerConfig config) {
    try {
      return context.launcher().start(config);
    } catch (IOException e) {
      throw new CliFailure(ExitCode.FAILED, "The bus cannot start: " + Failures.describe(e), e);
    }
  }

  /** Shortens the cache of names: Java would keep an address for 30 s, and a failure for 10 s. */
  private static void lookNamesUpAgain() {
    Security.setProperty("networkaddress.cache.ttl", "5");
    Security.setProperty("networkaddress.cache.negative.ttl", "1");
  }

  private static boolean isLoopback(String host) {
    return host.startsWith("127.") || host.equals("localhost") || host.equals("::1");
  }

  private static void stop(RunningBus bus) {
    LOG.info("Stopping");
    bus.close();
    LOG.info("Stopped");
  }

  private static String startLine(ServerConfig config, RunningBus bus) {
    String admin =
        bus.adminPort() < 0
            ? "no administration port"
            : "administration on "
                + (config.admin().access().encrypted() ? "https://" : "http://")
                + config.admin().host()
                + ":"
                + bus.adminPort();
    return "Bus "
        + bus.name()
        + " (version "
        + BuildInfo.version()
        + ") listens on "
        + bus.uri()
        + ", "
        + admin;
  }
}
