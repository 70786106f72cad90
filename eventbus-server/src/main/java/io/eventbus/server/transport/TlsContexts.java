package io.eventbus.server.transport;

import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.TlsConfig;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** TLS for clients, from two PEM files. */
final class TlsContexts {
  /** Sessions that clients may resume: the JDK's own bounds are twenty times as many, for a day. */
  private static final int SESSIONS = 1_000;

  private static final int SESSION_SECONDS = 300;

  private TlsContexts() {}

  /**
   * Reads the files.
   *
   * @return null when TLS is off
   * @throws ConfigException if they cannot be read or do not fit
   */
  static @Nullable SslContext of(TlsConfig config) {
    Path certificate = config.certificate();
    Path key = config.key();
    if (certificate == null || key == null) {
      return null;
    }
    readable("tls.certificate", certificate);
    readable("tls.key", key);
    try {
      return SslContextBuilder.forServer(certificate.toFile(), key.toFile())
          .protocols("TLSv1.3", "TLSv1.2")
          .sessionCacheSize(SESSIONS)
          .sessionTimeout(SESSION_SECONDS)
          .build();
    } catch (SSLException | IllegalArgumentException e) {
      ConfigException refused =
          new ConfigException(
              List.of(
                  "tls.certificate: "
                      + certificate
                      + " and tls.key: "
                      + key
                      + " (expected: a chain and its unencrypted PKCS#8 key, both in PEM): "
                      + e.getMessage()));
      refused.initCause(e);
      throw refused;
    }
  }

  private static void readable(String key, Path file) {
    if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
      throw new ConfigException(List.of(key + ": " + file + " (expected: a readable file)"));
    }
  }
}
