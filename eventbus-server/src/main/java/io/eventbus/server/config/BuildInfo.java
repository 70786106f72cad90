package io.eventbus.server.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** Build of the software: its version. */
public final class BuildInfo {
  private static final String VERSION = read();

  private BuildInfo() {}

  /**
   * Returns the version of the software.
   *
   * @return for example "0.1.0"
   */
  public static String version() {
    return VERSION;
  }

  private static String read() {
    Properties properties = new Properties();
    try (InputStream in = BuildInfo.class.getResourceAsStream("build.properties")) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version", "unknown");
  }
}
