package io.eventbus.server.transport;

import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.config.TlsConfig;
import io.netty.channel.Channel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
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
      return withClients(config, SslContextBuilder.forServer(certificate.toFile(), key.toFile()))
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

  /** Asks for clients' certificates, where the configuration says so. */
  private static SslContextBuilder withClients(TlsConfig config, SslContextBuilder builder) {
    Path authority = config.clientCa();
    if (authority == null) {
      return builder;
    }
    readable(ConfigKey.TLS_CLIENT_CA.key(), authority);
    try {
      return builder
          .trustManager(authority.toFile())
          .clientAuth(
              config.clientAuth() == io.eventbus.server.config.ClientAuth.REQUIRED
                  ? ClientAuth.REQUIRE
                  : ClientAuth.OPTIONAL);
    } catch (IllegalArgumentException e) {
      ConfigException refused =
          new ConfigException(
              List.of(
                  ConfigKey.TLS_CLIENT_CA.key()
                      + ": "
                      + authority
                      + " (expected: certificates in PEM): "
                      + e.getMessage()));
      refused.initCause(e);
      throw refused;
    }
  }

  /** Returns with which certificate a client has opened its connection; null for none. */
  static @Nullable X509Certificate clientCertificate(Channel channel) {
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    if (tls == null || !(tls.engine().getNeedClientAuth() || tls.engine().getWantClientAuth())) {
      return null;
    }
    try {
      Certificate[] chain = tls.engine().getSession().getPeerCertificates();
      return chain.length > 0 && chain[0] instanceof X509Certificate own ? own : null;
    } catch (SSLPeerUnverifiedException e) {
      // It has shown none.
      return null;
    }
  }

  private static void readable(String key, Path file) {
    if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
      throw new ConfigException(List.of(key + ": " + file + " (expected: a readable file)"));
    }
  }
}
