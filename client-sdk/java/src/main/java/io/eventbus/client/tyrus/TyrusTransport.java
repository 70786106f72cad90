package io.eventbus.client.tyrus;

import io.eventbus.client.internal.Shared;
import io.eventbus.client.internal.Transport;
import io.eventbus.client.internal.TransportProvider;
import java.io.IOException;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;

/** One client's connections through Tyrus and Grizzly, on what all clients share. */
final class TyrusTransport implements Transport {
  private final TransportProvider.Settings settings;
  private final Shared.Lease<SharedTransport> shared = SharedTransport.ALL.acquire();
  private final Set<TyrusConnection> connections = ConcurrentHashMap.newKeySet();

  TyrusTransport(TransportProvider.Settings settings) {
    this.settings = settings;
  }

  @Override
  public Attempt connect(URI url, Listener listener) {
    SharedTransport transport = shared.get();
    TyrusConnection connection =
        new TyrusConnection(settings, transport.sendBuffers(), listener, connections::remove);
    connections.add(connection);
    try {
      // Looking up a name may take long.
      transport.lookups().execute(() -> new Opening(transport, settings, url, connection).open());
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
