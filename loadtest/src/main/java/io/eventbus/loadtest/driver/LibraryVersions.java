package io.eventbus.loadtest.driver;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** The versions of the libraries that drivers use, as the build put them together. */
public final class LibraryVersions {
  private static final String RESOURCE = "/library-versions.properties";

  private LibraryVersions() {}

  /**
   * Returns the version of a library.
   *
   * @throws IllegalArgumentException if the build does not tell it
   */
  public static String of(String name) {
    Properties versions = new Properties();
    try (InputStream in = LibraryVersions.class.getResourceAsStream(RESOURCE)) {
      if (in != null) {
        versions.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    @Nullable String version = versions.getProperty(name);
    if (version == null) {
      throw new IllegalArgumentException(
          "library: " + name + " (expected: one in " + RESOURCE + ")");
    }
    return version;
  }
}
