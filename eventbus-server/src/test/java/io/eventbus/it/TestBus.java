package io.eventbus.it;

import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** Starts buses for tests: on loopback, on free ports, with whatever settings a test wants. */
final class TestBus {
  private TestBus() {}

  /** Makes a configuration from pairs of keys and values. */
  static ServerConfig config(String... settings) {
    Map<String, String> values = new HashMap<>();
    values.put("listen.host", "127.0.0.1");
    values.put("listen.port", "0");
    values.put("listen.event-loops", "2");
    values.put("admin.port", "0");
    for (int i = 0; i < settings.length; i += 2) {
      values.put(settings[i], settings[i + 1]);
    }
    return ServerConfig.of(values);
  }

  static BusServer start(String... settings) throws IOException {
    return BusServer.start(config(settings));
  }
}
