package io.eventbus.server.admin;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.tls.FailureText;
import io.eventbus.server.tls.TlsFiles;
import io.eventbus.server.tls.TlsMaterial;
import io.eventbus.server.tls.TlsSource;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.LongAdder;
import javax.net.ssl.SSLException;
import org.slf4j.LoggerFactory;

/**
 * TLS of the administration port from files: each connection gets the context that is current when
 * it begins. Any thread.
 */
final class AdminTls {
  /** Maximum of sessions that callers may resume. */
  private static final int SESSIONS = 1_000;

  private static final int SESSION_SECONDS = 300;

  private final RateLimitedLog log = new RateLimitedLog(LoggerFactory.getLogger(AdminTls.class));
  private final LongAdder failures = new LongAdder();
  private final TlsSource source;
  // Set while the source is opened.
  private volatile SslContext current;

  /**
   * Reads the files.
   *
   * @throws io.eventbus.server.config.ConfigException if they cannot be used
   */
  @SuppressWarnings("NullAway.Init")
  AdminTls(TlsFiles files) {
    source = TlsSource.open(files, material -> current = context(material));
  }

  private static SslContext context(TlsMaterial material) {
    try {
      return SslContextBuilder.forServer(material.key(), material.chain())
          .protocols("TLSv1.3", "TLSv1.2")
          .sessionCacheSize(SESSIONS)
          .sessionTimeout(SESSION_SECONDS)
          .build();
    } catch (SSLException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  TlsSource source() {
    return source;
  }

  /**
   * Creates the handler of a connection that begins now; its deadline is that of the connection.
   */
  SslHandler newHandler(ByteBufAllocator allocator) {
    SslHandler handler = current.newHandler(allocator);
    handler.setHandshakeTimeoutMillis(0);
    return handler;
  }

  /** Counts and tells that a handshake has failed. */
  void tellFailed(InetSocketAddress client, Throwable cause) {
    failures.increment();
    log.warn(
        "tls",
        "the TLS handshake of {} at the administration port has failed: {}",
        client,
        FailureText.of(cause));
  }

  /** Returns how many handshakes have failed. */
  long failures() {
    return failures.sum();
  }
}
