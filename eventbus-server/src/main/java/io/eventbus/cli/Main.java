package io.eventbus.cli;

import io.eventbus.cli.console.BusLauncher;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.CompletionStage;

/** Main class of the command {@code eventbus}. */
public final class Main {
  private static final String LEAK_DETECTION = "io.netty.leakDetection.level";
  private static final String OLD_LEAK_DETECTION = "io.netty.leakDetectionLevel";

  private Main() {}

  /**
   * Runs the command and ends the process with its exit code.
   *
   * @param arguments what stands after the name of the command
   */
  public static void main(String[] arguments) {
    if (System.getProperty(LEAK_DETECTION) == null
        && System.getProperty(OLD_LEAK_DETECTION) == null) {
      // Netty would take a stack trace for one buffer in 128, which is a measurable part of an
      // event's cost. The tests look at every buffer instead.
      System.setProperty(LEAK_DETECTION, "disabled");
    }
    boundTls();
    int code = ExitCode.FAILED;
    try {
      code = new CommandRunner(CliContext.ofProcess(Main::start)).run(arguments);
    } catch (Error e) {
      // The heap may be used up: then no message and no orderly end can be relied on, and threads
      // of the bus would keep the process alive.
      try {
        e.printStackTrace();
      } finally {
        Runtime.getRuntime().halt(code);
      }
    }
    System.exit(code);
  }

  /**
   * Bounds the cost of TLS for a server: no groups of finite fields, whose arithmetic takes a
   * hundred times as long as that of curves, no handshakes in the middle of a connection, and no
   * long ones. The JDK takes these from the process only.
   */
  static void boundTls() {
    setDefault("jdk.tls.namedGroups", "x25519,secp256r1,secp384r1,secp521r1");
    setDefault("jdk.tls.rejectClientInitiatedRenegotiation", "true");
    setDefault("jdk.tls.maxHandshakeMessageSize", "16384");
  }

  private static void setDefault(String key, String value) {
    if (System.getProperty(key) == null) {
      System.setProperty(key, value);
    }
  }

  static BusLauncher.RunningBus start(ServerConfig config) throws IOException {
    BusServer server = BusServer.start(config);
    return new BusLauncher.RunningBus() {
      @Override
      public String name() {
        return server.name();
      }

      @Override
      public URI uri() {
        return server.uri();
      }

      @Override
      public int adminPort() {
        return server.adminPort();
      }

      @Override
      public CompletionStage<String> failed() {
        return server.failed();
      }

      @Override
      public void reload() {
        server.reload();
      }

      @Override
      public void close() {
        server.close();
      }
    };
  }
}
