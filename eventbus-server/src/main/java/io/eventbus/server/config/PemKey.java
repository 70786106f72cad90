package io.eventbus.server.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Recognises the private keys that many tools write and no bus can read, before a library refuses
 * them in words that say nothing of what to do.
 */
public final class PemKey {
  /** More than the texts that may be before a key, such as curve parameters. */
  private static final int LOOKED_AT = 16 * 1024;

  private PemKey() {}

  /**
   * Checks that a file holds no key in a form that has to be converted. Whatever else is wrong with
   * it is for the reader of the key to say.
   *
   * @param key the configuration key that names the file
   * @param file the file, null for none
   * @throws ConfigException if it has to be converted; names the command that does so
   */
  public static void check(ConfigKey key, @Nullable Path file) {
    String text = file == null ? "" : read(file);
    String form =
        text.contains("-----BEGIN RSA PRIVATE KEY-----")
            ? "PKCS#1"
            : text.contains("-----BEGIN EC PRIVATE KEY-----")
                ? "SEC 1"
                : text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") ? "encrypted PKCS#8" : "";
    if (form.isEmpty()) {
      return;
    }
    String options = form.startsWith("encrypted") ? "" : " -topk8 -nocrypt";
    throw new ConfigException(
        List.of(
            key.key()
                + ": "
                + file
                + " is a key in "
                + form
                + " (expected: PKCS#8, not encrypted; convert it with: openssl pkcs8"
                + options
                + " -in "
                + file
                + " -out "
                + converted(String.valueOf(file))
                + ")"));
  }

  private static String converted(String file) {
    int dot = file.lastIndexOf('.');
    return dot > file.lastIndexOf('/') + 1
        ? file.substring(0, dot) + "-pkcs8" + file.substring(dot)
        : file + "-pkcs8";
  }

  private static String read(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      return new String(in.readNBytes(LOOKED_AT), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      // Told with more words where the key is read.
      return "";
    }
  }
}
