package io.eventbus.server.transport;

import io.eventbus.server.config.TlsConfig;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.nio.file.Path;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** TLS for clients, from two PEM files. */
final class TlsContexts {
  private TlsContexts() {}

  static @Nullable SslContext of(TlsConfig config) throws IOException {
    Path certificate = config.certificate();
    Path key = config.key();
    if (certificate == null || key == null) {
      return null;
    }
    try {
      return SslContextBuilder.forServer(certificate.toFile(), key.toFile())
          .protocols("TLSv1.3", "TLSv1.2")
          .build();
    } catch (SSLException | IllegalArgumentException e) {
      throw new IOException(
          "tls: cannot use certificate "
              + certificate
              + " and key "
              + key
              + ": "
              + e.getMessage()
              + " (expected: a chain and an unencrypted PKCS#8 key, both in PEM)",
          e);
    }
  }
}
