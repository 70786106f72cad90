package io.eventbus.cli.console;

import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Starts a bus in this process: a port, so that the commands can be tested without one. */
@FunctionalInterface
public interface BusLauncher {
  /**
   * Starts a bus.
   *
   * @throws IOException if it cannot listen
   */
  RunningBus start(ServerConfig config) throws IOException;

  /** Bus that listens. */
  interface RunningBus extends AutoCloseable {
    /** Returns the name of the bus. */
    String name();

    /** Returns the URL for clients. */
    URI uri();

    /** Returns the TCP port of the administration API, or -1 if there is none. */
    int adminPort();

    /**
     * Returns a stage that completes with the reason when the bus has failed and will not recover.
     */
    default CompletionStage<String> failed() {
      return new CompletableFuture<>();
    }

    /** Uses changed files of TLS. */
    default void reload() {}

    /** Stops accepting, delivers what is queued within the configured time, and stops. */
    @Override
    void close();
  }
}
