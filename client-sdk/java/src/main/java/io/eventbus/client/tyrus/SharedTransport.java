package io.eventbus.client.tyrus;

import io.eventbus.client.internal.base.RefCounted;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.glassfish.grizzly.nio.transport.TCPNIOTransport;
import org.glassfish.grizzly.nio.transport.TCPNIOTransportBuilder;
import org.glassfish.grizzly.strategies.SameThreadIOStrategy;
import org.glassfish.grizzly.threadpool.ThreadPoolConfig;
import org.glassfish.tyrus.client.ClientManager;
import org.glassfish.tyrus.client.ClientProperties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Resources that all connections of this JVM share: Grizzly's selector threads, which read and
 * never wait, Tyrus' container, the buffers to send from, and a few threads that open connections
 * and look up names. Nothing here depends on a client's settings; TLS belongs to each connection.
 */
final class SharedTransport {
  /** Shared instance, held by every client. */
  static final RefCounted<SharedTransport> ALL =
      new RefCounted<>(SharedTransport::new, SharedTransport::shutdown);

  private static final Logger LOG = LoggerFactory.getLogger(SharedTransport.class);
  private static final int MAX_SELECTORS = 4;
  private static final int MAX_OPENINGS = 16;

  private final TCPNIOTransport grizzly;
  private final ClientManager tyrus;
  private final ThreadPoolExecutor openings;
  private final NameLookups lookups = new NameLookups();
  private final SendBuffers sendBuffers = new SendBuffers();
  private final DirectReads directReads = new DirectReads();

  private SharedTransport() {
    int selectors = Math.min(MAX_SELECTORS, Runtime.getRuntime().availableProcessors());
    grizzly =
        TCPNIOTransportBuilder.newInstance()
            .setName("eventbus")
            .setIOStrategy(SameThreadIOStrategy.getInstance())
            .setSelectorThreadPoolConfig(
                ThreadPoolConfig.defaultConfig()
                    .setPoolName("eventbus-io")
                    .setDaemon(true)
                    .setCorePoolSize(selectors)
                    .setMaxPoolSize(selectors))
            .setReuseAddress(false)
            .build();
    grizzly.setSelectorRunnersCount(selectors);
    tyrus = ClientManager.createClient(BusContainer.class.getName());
    // No time-out. For Tyrus 0 is one that is over at once, for which it starts ten threads.
    tyrus.setDefaultMaxSessionIdleTimeout(-1);
    Map<String, Object> properties = tyrus.getProperties();
    properties.put(ClientProperties.REDIRECT_ENABLED, false);
    // Tyrus would wait in the calling thread; the end of the handshake is reported anyway.
    properties.put(ClientProperties.HANDSHAKE_TIMEOUT, 0);
    // Each client has a few tasks here at most; only a proxy selector of an application may wait.
    openings =
        new ThreadPoolExecutor(
            MAX_OPENINGS,
            MAX_OPENINGS,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            SharedTransport::openingThread);
    openings.allowCoreThreadTimeOut(true);
    try {
      grizzly.start();
    } catch (IOException e) {
      throw new UncheckedIOException("the selectors could not be opened", e);
    }
  }

  private static Thread openingThread(Runnable task) {
    Thread thread = new Thread(task, "eventbus-connect");
    thread.setDaemon(true);
    return thread;
  }

  TCPNIOTransport grizzly() {
    return grizzly;
  }

  ClientManager tyrus() {
    return tyrus;
  }

  SendBuffers sendBuffers() {
    return sendBuffers;
  }

  DirectReads directReads() {
    return directReads;
  }

  /** Returns the executor that opens connections; tasks must not block. */
  Executor openings() {
    return openings;
  }

  NameLookups lookups() {
    return lookups;
  }

  private void shutdown() {
    openings.shutdown();
    lookups.close();
    try {
      grizzly.shutdownNow();
    } catch (IOException e) {
      LOG.debug("the selectors could not be closed", e);
    }
  }
}
