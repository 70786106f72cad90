package io.eventbus.client.tyrus;

import jakarta.websocket.ClientEndpointConfig;
import java.util.Map;
import org.glassfish.tyrus.spi.ClientContainer;
import org.glassfish.tyrus.spi.ClientEngine;

/**
 * Container that Tyrus runs in. It replaces the one for Grizzly, which has a transport with threads
 * for every connection, reads with workers that a slow handler blocks, and waits while it connects.
 * Tyrus keeps the handshake, the session and the control frames.
 */
public final class BusContainer implements ClientContainer {
  /** Property of an endpoint that holds its {@link TyrusWire}. */
  static final String WIRE = "io.eventbus.wire";

  /** Creates the container, for Tyrus, which does so by name. */
  public BusContainer() {}

  @Override
  public void openClientSocket(
      ClientEndpointConfig config, Map<String, Object> properties, ClientEngine engine) {
    if (config.getUserProperties().get(WIRE) instanceof TyrusWire wire) {
      wire.engine(engine);
    }
  }
}
