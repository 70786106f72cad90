package io.eventbus.client.tyrus;

import io.eventbus.client.internal.Shared;
import io.eventbus.client.internal.Transport;
import io.eventbus.client.internal.TransportProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;

/** One client's connections through Tyrus and Grizzly, on what all clients share. */
final class TyrusTransport implements Transport {
  private final TransportProvider.Settings settings;
  private final Shared.Lease<SharedTransport> shared = SharedTransport.ALL.acquire();
  private final Set<TyrusConnection> connections = ConcurrentHashMap.newKeySet();
  private final HostAddresses addresses;

  TyrusTransport(TransportProvider.Settings settings) {
    this(settings, InetAddress::getAllByName);
  }

  TyrusTransport(TransportProvider.Settings settings, HostAddresses.Resolver resolver) {
    this.settings = settings;
    this.addresses = new HostAddresses(resolver);
  }

  @Override
  public Attempt connect(URI url, Duration patience, Listener listener) {
    SharedTransport transport = shared.get();
    TyrusConnection connection =
        new TyrusConnection(settings, url, transport.sendBuffers(), listener, connections::remove);
    connections.add(connection);
    Opening.Environment environment = new Opening.Environment(transport, settings, addresses);
    long deadline = System.nanoTime() + patience.toNanos();
    try {
      // Looking up a name may take long.
      transport.lookups().execute(() -> new Opening(environment, url, connection, deadline).open());
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
