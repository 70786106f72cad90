package io.eventbus.client.tyrus;

import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.base.TransportProvider;

/** Factory of transports over Tyrus. */
public final class TyrusTransportProvider implements TransportProvider {
  /** Creates the provider, for {@link java.util.ServiceLoader}. */
  public TyrusTransportProvider() {}

  @Override
  public Transport create(Settings settings) {
    return new TyrusTransport(settings);
  }
}
