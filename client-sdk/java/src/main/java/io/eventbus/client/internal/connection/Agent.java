package io.eventbus.client.internal.connection;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** Name and version by which this library identifies itself; the version is that of the build. */
final class Agent {
  static final String NAME = "eventbus-java/" + version();

  private Agent() {}

  private static String version() {
    Properties properties = new Properties();
    try (InputStream in = Agent.class.getResourceAsStream("build.properties")) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the version of the library cannot be read", e);
    }
    return properties.getProperty("version", "unknown");
  }
}
