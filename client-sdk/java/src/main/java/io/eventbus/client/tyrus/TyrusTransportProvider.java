package io.eventbus.client.tyrus;

import io.eventbus.client.internal.Transport;
import io.eventbus.client.internal.TransportProvider;

/** Makes transports over Tyrus. */
public final class TyrusTransportProvider implements TransportProvider {
  /** For {@link java.util.ServiceLoader}. */
  public TyrusTransportProvider() {}

  @Override
  public Transport create(Settings settings) {
    return new TyrusTransport(settings);
  }
}
