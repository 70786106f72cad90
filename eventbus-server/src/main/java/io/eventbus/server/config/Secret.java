package io.eventbus.server.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Secret in the configuration, or in a file that it names. Whether the file can be read shows when
 * the bus starts.
 *
 * @param key the key of the secret itself
 * @param text the secret, or null; never printed
 * @param fileKey the key of the file
 * @param file a file that holds it, or null
 * @param minLength the fewest characters that are taken
 */
public record Secret(
    ConfigKey key, @Nullable String text, ConfigKey fileKey, @Nullable Path file, int minLength) {
  private static final int MAX_FILE_BYTES = 8_192;
  private static final Pattern SHAPE = Pattern.compile("[\\x21-\\x7e]{1,4096}");

  /**
   * Checks the secret.
   *
   * @param key the key of the secret itself
   * @param text the secret, or null; never printed
   * @param fileKey the key of the file
   * @param file a file that holds it, or null
   * @param minLength the fewest characters that are taken
   * @throws IllegalArgumentException if it is too short, has other characters, or is given twice;
   *     the message does not hold it
   */
  public Secret {
    if (text != null) {
      check(key, text, minLength);
      if (file != null) {
        throw new IllegalArgumentException(
            fileKey.key()
                + ": \""
                + file
                + "\" (expected: none, because "
                + key.key()
                + " is set)");
      }
    }
  }

  private static void check(ConfigKey key, String text, int minLength) {
    if (!SHAPE.matcher(text).matches()) {
      throw new IllegalArgumentException(
          key.key() + ": *** (expected: " + ValueType.SECRET.expectation() + ")");
    }
    if (text.length() < minLength) {
      throw new IllegalArgumentException(
          key.key() + ": " + text.length() + " characters (expected: >= " + minLength + ")");
    }
  }

  /**
   * Returns whether there is a secret.
   *
   * @return true if it is given, or a file is named
   */
  public boolean isSet() {
    return text != null || file != null;
  }

  /**
   * Returns the secret; reads the file.
   *
   * @return without white space around it; nothing if there is none
   * @throws ConfigException if the file cannot be read or holds no such secret; says which, without
   *     what is in it
   */
  public Optional<String> read() {
    Path named = file;
    if (named == null) {
      return Optional.ofNullable(text);
    }
    try (InputStream in = Files.newInputStream(named)) {
      String found = new String(in.readNBytes(MAX_FILE_BYTES), StandardCharsets.UTF_8).strip();
      check(fileKey, found, minLength);
      return Optional.of(found);
    } catch (IOException e) {
      throw wrong(fileKey.key() + ": \"" + named + "\" cannot be read (expected: a file): " + e, e);
    } catch (IllegalArgumentException e) {
      throw wrong(e.getMessage() + ", in file " + named, e);
    }
  }

  private static ConfigException wrong(String problem, Exception cause) {
    ConfigException wrong = new ConfigException(List.of(problem));
    wrong.initCause(cause);
    return wrong;
  }

  /** Prints the record without its secret. */
  @Override
  public String toString() {
    return file != null ? "file " + file : text != null ? "***" : "none";
  }
}
