package io.eventbus.client.tyrus;

import io.eventbus.client.internal.base.RefCounted;
import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.base.TransportProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;

/** Connections of one client through Tyrus and Grizzly, on the shared resources. */
final class TyrusTransport implements Transport {
  /** Resolver of the JDK, the same for all clients, so that they share look-ups. */
  private static final HostAddresses.Resolver JDK = InetAddress::getAllByName;

  private final TransportProvider.Settings settings;
  private final RefCounted.Lease<SharedTransport> shared = SharedTransport.ALL.acquire();
  private final Set<TyrusConnection> connections = ConcurrentHashMap.newKeySet();
  private final HostAddresses addresses = new HostAddresses();
  private final HostAddresses.Resolver resolver;

  TyrusTransport(TransportProvider.Settings settings) {
    this(settings, JDK);
  }

  TyrusTransport(TransportProvider.Settings settings, HostAddresses.Resolver resolver) {
    this.settings = settings;
    this.resolver = resolver;
  }

  @Override
  public Attempt connect(URI url, Duration timeout, Listener listener) {
    SharedTransport transport = shared.get();
    TyrusConnection connection =
        new TyrusConnection(settings, url, transport.sendBuffers(), listener, connections::remove);
    connections.add(connection);
    TyrusHandshake.Environment environment =
        new TyrusHandshake.Environment(transport, settings, resolver, addresses);
    long deadline = System.nanoTime() + timeout.toNanos();
    try {
      transport
          .openings()
          .execute(() -> new TyrusHandshake(environment, url, connection, deadline).open());
    } catch (RejectedExecutionException e) {
      connection.failed(e);
    }
    return connection::cancel;
  }

  @Override
  public void close() {
    connections.forEach(connection -> connection.failed(new IOException("the client is closed")));
    shared.release();
  }
}
