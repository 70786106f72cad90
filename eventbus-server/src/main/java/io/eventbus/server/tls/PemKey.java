package io.eventbus.server.tls;

import io.eventbus.server.config.ConfigException;
import io.eventbus.server.tls.TlsFiles.ConfiguredFile;
import java.util.List;

/**
 * Recognition of private keys that many tools write and no bus can read, to refuse them with a
 * message that says what to do.
 */
final class PemKey {
  private PemKey() {}

  /**
   * Checks that a file holds no key in a form that has to be converted. Other errors are left to
   * the reader of the key.
   *
   * @throws ConfigException if it has to be converted; names the command that does so
   */
  static void check(ConfiguredFile file, String text) {
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
            file
                + " is a key in "
                + form
                + " (expected: PKCS#8, not encrypted; convert it with: openssl pkcs8"
                + options
                + " -in "
                + file.path()
                + " -out "
                + converted(file.path().toString())
                + ")"));
  }

  private static String converted(String file) {
    int dot = file.lastIndexOf('.');
    return dot > file.lastIndexOf('/') + 1
        ? file.substring(0, dot) + "-pkcs8" + file.substring(dot)
        : file + "-pkcs8";
  }
}
