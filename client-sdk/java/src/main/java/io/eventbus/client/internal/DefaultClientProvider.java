package io.eventbus.client.internal;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.ClientProvider;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Outside;
import io.eventbus.client.internal.base.RefCounted;
import io.eventbus.client.internal.base.SharedThreads;
import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.base.TransportProvider;
import io.eventbus.client.internal.connection.BusLink;
import java.util.ServiceLoader;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;

/** Provider of the SDK: wires a client to the transport that is on the class path. */
public final class DefaultClientProvider implements ClientProvider {
  /** WebSocket sub-protocol: version 1, binary Avro. */
  static final String SUB_PROTOCOL = "eventbus.v1.avro";

  /** Creates the provider, for {@link ServiceLoader}. */
  public DefaultClientProvider() {}

  @Override
  public CompletionStage<EventBusClient> connect(ClientOptions options) {
    TransportProvider provider =
        ServiceLoader.load(TransportProvider.class, DefaultClientProvider.class.getClassLoader())
            .findFirst()
            .orElseThrow(
                () ->
                    new IllegalStateException(
                        "no "
                            + TransportProvider.class.getName()
                            + " (expected: one, named in"
                            + " META-INF/services)"));
    RefCounted.Lease<SharedThreads> threads = SharedThreads.ALL.acquire();
    Transport transport;
    try {
      transport =
          provider.create(
              new TransportProvider.Settings(
                  SUB_PROTOCOL, BusLink.messageBytes(0), options.sslContext()));
    } catch (RuntimeException | Error e) {
      // No selectors, for instance: without a client nothing else would release the threads.
      threads.release();
      throw e;
    }
    return ClientParts.wire(
            options,
            new Outside(
                transport,
                threads.get().conductor(),
                threads.get().senders(),
                threads.get().handlers(),
                MicroClock.system(),
                () -> ThreadLocalRandom.current().nextDouble(),
                threads::release))
        .start();
  }
}
