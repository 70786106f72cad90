package io.eventbus.client.tyrus;

import io.eventbus.client.internal.Transport;
import io.eventbus.client.internal.TransportProvider;
import jakarta.websocket.ClientEndpointConfig;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLContext;
import org.glassfish.tyrus.client.ClientManager;
import org.glassfish.tyrus.client.ClientProperties;
import org.glassfish.tyrus.client.SslEngineConfigurator;
import org.glassfish.tyrus.client.ThreadPoolConfig;

/**
 * Connections through Tyrus. Each has a Grizzly transport of its own, with one selector and a few
 * worker threads, which ends with it: nothing is shared and nothing is left.
 *
 * <p>Grizzly does not watch a socket for reading while a worker is in {@code onMessage}: a listener
 * that blocks there stops the reading, and with it the bus.
 */
final class TyrusTransport implements Transport {
  private static final String GRIZZLY =
      "org.glassfish.tyrus.container.grizzly.client.GrizzlyClientContainer";

  // One reads, one is there for a close that comes while the first is held up; Tyrus wants a third.
  private static final int WORKERS = 3;

  // The head of a WebSocket frame: RFC 6455, section 5.2.
  private static final int FRAME_OVERHEAD = 14;

  private final TransportProvider.Settings settings;
  private final Set<TyrusConnection> connections = ConcurrentHashMap.newKeySet();

  TyrusTransport(TransportProvider.Settings settings) {
    this.settings = settings;
  }

  @Override
  public void connect(URI url, Duration timeout, Listener listener) {
    TyrusConnection connection =
        new TyrusConnection(settings, listener, connections::add, connections::remove);
    // Tyrus connects in the calling thread, and waits there.
    Thread thread =
        new Thread(
            () -> connectAndWait(url, timeout, connection), settings.threadPrefix() + "-connect");
    thread.setDaemon(true);
    thread.start();
  }

  private void connectAndWait(URI url, Duration timeout, TyrusConnection connection) {
    try {
      ClientManager client = ClientManager.createClient(GRIZZLY);
      configure(client.getProperties(), url, timeout);
      ClientEndpointConfig config =
          ClientEndpointConfig.Builder.create()
              .preferredSubprotocols(List.of(settings.subProtocol()))
              .build();
      client.connectToServer(connection, config, url);
    } catch (Exception | LinkageError e) {
      connection.failed(e);
    }
  }

  private void configure(Map<String, Object> properties, URI url, Duration timeout) {
    properties.put(
        ClientProperties.HANDSHAKE_TIMEOUT,
        (int) Math.min(Integer.MAX_VALUE, Math.max(1, timeout.toMillis())));
    properties.put(
        ClientProperties.INCOMING_BUFFER_SIZE, settings.maxMessageBytes() + FRAME_OVERHEAD);
    properties.put(ClientProperties.SHARED_CONTAINER, false);
    properties.put(ClientProperties.REDIRECT_ENABLED, false);
    properties.put(
        ClientProperties.WORKER_THREAD_POOL_CONFIG,
        ThreadPoolConfig.defaultConfig()
            .setPoolName(settings.threadPrefix() + "-io")
            .setMaxPoolSize(WORKERS)
            .setCorePoolSize(WORKERS)
            .setDaemon(true));
    SSLContext tls = settings.sslContext();
    if (tls != null && "wss".equals(url.getScheme())) {
      // Client mode; the host name is verified, which is this class's default.
      properties.put(
          ClientProperties.SSL_ENGINE_CONFIGURATOR,
          new SslEngineConfigurator(tls, true, false, false));
    }
  }

  @Override
  public void close() {
    connections.forEach(TyrusConnection::abort);
  }
}
