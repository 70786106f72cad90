package io.eventbus.client.tyrus;

import jakarta.websocket.ClientEndpointConfig;
import java.util.Map;
import org.glassfish.tyrus.spi.ClientContainer;
import org.glassfish.tyrus.spi.ClientEngine;

/**
 * The container that Tyrus runs in, in place of its own for Grizzly, which has a transport with
 * threads for every connection, reads with workers that a slow handler blocks, and waits while it
 * connects. Tyrus keeps the handshake, the session and the control frames.
 */
public final class BusContainer implements ClientContainer {
  /** The property of an endpoint under which its {@link TyrusWire} is. */
  static final String WIRE = "io.eventbus.wire";

  /** For Tyrus, which makes it by its name. */
  public BusContainer() {}

  @Override
  public void openClientSocket(
      ClientEndpointConfig config, Map<String, Object> properties, ClientEngine engine) {
    if (config.getUserProperties().get(WIRE) instanceof TyrusWire wire) {
      wire.engine(engine);
    }
  }
}
