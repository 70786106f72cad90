package io.eventbus.client.internal.base;

import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Factory of transports; found with {@link java.util.ServiceLoader}. */
public interface TransportProvider {
  /** Creates the transport of a client. */
  Transport create(Settings settings);

  /**
   * Settings of a client's transport.
   *
   * @param maxMessageBytes the largest message to accept until a connection is told otherwise
   * @param sslContext for {@code wss}, or null for the JDK's
   */
  record Settings(String subProtocol, int maxMessageBytes, @Nullable SSLContext sslContext) {}
}
