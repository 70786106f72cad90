package io.eventbus.it;

import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.samples.TestKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Starts buses for tests: on loopback, on free ports, with whatever settings a test wants. */
final class TestBus {
  private TestBus() {}

  /** Creates a configuration from pairs of keys and values. */
  static ServerConfig config(String... settings) {
    Map<String, String> values = new HashMap<>();
    values.put("listen.host", "127.0.0.1");
    values.put("listen.port", "0");
    values.put("listen.event-loops", "2");
    values.put("admin.port", "0");
    values.put("auth.resume-key-file", TestKey.FILE.toString());
    for (int i = 0; i < settings.length; i += 2) {
      values.put(settings[i], settings[i + 1]);
    }
    return ServerConfig.of(values);
  }

  /** Ends buses at the same time: each takes a moment to end its part in the registry. */
  static void closeAll(List<BusServer> buses) {
    CompletableFuture<?>[] closing =
        buses.stream()
            .map(bus -> CompletableFuture.runAsync(bus::close, task -> new Thread(task).start()))
            .toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(closing).orTimeout(60, TimeUnit.SECONDS).join();
  }

  static BusServer start(String... settings) throws IOException {
    return BusServer.start(config(settings));
  }

  /** Starts a bus that takes part in a cluster, with its data in a directory of its name. */
  static BusServer startMember(Path root, String name, String... settings) throws IOException {
    return start(member(root, name, settings));
  }

  /** Returns the keys and values of such a bus, for one that is started otherwise. */
  static String[] member(Path root, String name, String... settings) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "bus.name",
                name,
                "cluster.port",
                "0",
                "cluster.host",
                "127.0.0.1",
                "cluster.secret",
                "a-secret-for-tests-only",
                "cluster.directory",
                root.resolve(name).toString(),
                "timeouts.shutdown",
                "1s"));
    all.addAll(Arrays.asList(settings));
    return all.toArray(new String[0]);
  }
}
