package io.eventbus.cli;

import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.CompletionStage;

/** The command {@code eventbus}. */
public final class Main {
  private Main() {}

  /**
   * Runs the command and ends the process with its exit code.
   *
   * @param arguments what stands after the name of the command
   */
  public static void main(String[] arguments) {
    System.exit(new CommandRunner(Surroundings.ofProcess(Main::start)).run(arguments));
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
      public void close() {
        server.close();
      }
    };
  }
}
