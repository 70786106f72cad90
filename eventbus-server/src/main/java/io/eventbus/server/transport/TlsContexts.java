package io.eventbus.server.transport;

import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.TlsConfig;
import io.eventbus.server.tls.ClientTrust;
import io.eventbus.server.tls.TlsFiles;
import io.eventbus.server.tls.TlsMaterial;
import io.eventbus.server.tls.TlsSource;
import io.netty.channel.Channel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.Optional;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/**
 * TLS for clients from files: each connection gets the context that is current when it begins. Any
 * thread.
 */
final class TlsContexts {
  /**
   * Bound of sessions that clients may resume: the JDK's own are twenty times as many, for a day.
   */
  private static final int SESSIONS = 1_000;

  private static final int SESSION_SECONDS = 300;

  private final ClientAuth clientAuth;
  private final TlsSource source;
  // Set while the source is opened.
  private volatile SslContext current;

  @SuppressWarnings("NullAway.Init")
  private TlsContexts(TlsFiles files, ClientAuth clientAuth) {
    this.clientAuth = clientAuth;
    source = TlsSource.open(files, material -> current = context(material));
  }

  /**
   * Reads the files.
   *
   * @throws ConfigException if they cannot be read or do not fit
   */
  static Optional<TlsContexts> of(TlsConfig config) {
    ClientAuth clientAuth =
        switch (config.clientAuth()) {
          case NONE -> ClientAuth.NONE;
          case OPTIONAL -> ClientAuth.OPTIONAL;
          case REQUIRED -> ClientAuth.REQUIRE;
        };
    return TlsFiles.clients(config).map(files -> new TlsContexts(files, clientAuth));
  }

  private SslContext context(TlsMaterial material) {
    try {
      // Each set of files has its own context: sessions of another one are not resumed, so that a
      // client whose authority is no longer trusted does not return.
      SslContextBuilder builder = SslContextBuilder.forServer(material.key(), material.chain());
      if (!material.authorities().isEmpty()) {
        builder.trustManager(new ClientTrust(material.authorities()));
      }
      return builder
          .clientAuth(clientAuth)
          .protocols("TLSv1.3", "TLSv1.2")
          .sessionCacheSize(SESSIONS)
          .sessionTimeout(SESSION_SECONDS)
          .build();
    } catch (SSLException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  /** Returns the context for a connection that begins now. */
  SslContext current() {
    return current;
  }

  /** Returns the files that are watched while the bus runs. */
  TlsSource source() {
    return source;
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
      // The client has shown none.
      return null;
    }
  }
}
