package io.eventbus.client.tyrus;

import io.eventbus.client.internal.TransportProvider;
import jakarta.websocket.ClientEndpointConfig;
import jakarta.websocket.DeploymentException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.security.GeneralSecurityException;
import java.util.List;
import org.glassfish.grizzly.Connection;
import org.glassfish.grizzly.EmptyCompletionHandler;
import org.glassfish.grizzly.filterchain.FilterChain;
import org.glassfish.grizzly.filterchain.FilterChainBuilder;
import org.glassfish.grizzly.filterchain.TransportFilter;
import org.glassfish.grizzly.nio.transport.TCPNIOConnectorHandler;
import org.glassfish.grizzly.ssl.SSLBaseFilter;
import org.glassfish.grizzly.ssl.SSLFilter;
import org.glassfish.tyrus.spi.ClientContainer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens one connection: TCP, perhaps through a proxy of the JDK's {@link ProxySelector}, TLS, and
 * the upgrade. Only looking up names waits; the rest happens on the selector thread.
 */
final class Opening {
  private static final Logger LOG = LoggerFactory.getLogger(Opening.class);

  private final SharedTransport shared;
  private final TransportProvider.Settings settings;
  private final URI url;
  private final TyrusConnection endpoint;
  private final Wire wire;
  private final boolean secure;
  private final int port;

  Opening(
      SharedTransport shared,
      TransportProvider.Settings settings,
      URI url,
      TyrusConnection endpoint) {
    this.shared = shared;
    this.settings = settings;
    this.url = url;
    this.endpoint = endpoint;
    this.wire = endpoint.wire();
    this.secure = "wss".equals(url.getScheme());
    this.port = url.getPort() >= 0 ? url.getPort() : secure ? 443 : 80;
  }

  void open() {
    try {
      askTyrus();
      InetSocketAddress proxy = proxy();
      InetSocketAddress address =
          proxy != null ? proxy : new InetSocketAddress(url.getHost(), port);
      if (address.isUnresolved()) {
        throw new UnknownHostException(address.getHostString());
      }
      FilterChain chain = proxy == null ? chain() : plainChain();
      connect(address, chain, proxy != null);
    } catch (Exception | LinkageError e) {
      endpoint.failed(e);
    }
  }

  /** Has Tyrus make its side of the handshake, which it gives to the wire. */
  private void askTyrus() throws DeploymentException, IOException {
    ClientEndpointConfig config =
        ClientEndpointConfig.Builder.create()
            .preferredSubprotocols(List.of(settings.subProtocol()))
            .build();
    config.getUserProperties().put(BusContainer.WIRE, wire);
    config
        .getUserProperties()
        .put(
            ClientContainer.WLS_INCOMING_BUFFER_SIZE, FrameReader.most(settings.maxMessageBytes()));
    try {
      shared.tyrus().connectToServer(endpoint, config, url);
    } catch (DeploymentException e) {
      // Tyrus does not wait for the handshake, and says so.
      if (!wire.hasEngine()) {
        throw e;
      }
      LOG.trace("Tyrus does not wait", e);
    }
  }

  @SuppressWarnings("rawtypes") // Grizzly's connector is written with raw connections.
  private void connect(InetSocketAddress address, FilterChain chain, boolean throughProxy) {
    TCPNIOConnectorHandler connector =
        new TCPNIOConnectorHandler(shared.grizzly()) {
          @Override
          public void preConfigure(Connection connection) {
            wire.socket(connection);
          }
        };
    connector.setProcessor(chain);
    connector.connect(
        (SocketAddress) address,
        new EmptyCompletionHandler<Connection>() {
          @Override
          public void completed(Connection connection) {
            if (throughProxy) {
              wire.tunnel(HttpHead.connect(url.getHost(), port), () -> proxied(connection));
            } else {
              wire.upgrade();
            }
          }

          @Override
          public void failed(Throwable failure) {
            endpoint.failed(failure);
          }
        });
  }

  private void proxied(Connection<?> connection) {
    try {
      connection.setProcessor(chain());
      wire.upgrade();
    } catch (GeneralSecurityException e) {
      endpoint.failed(e);
    }
  }

  private FilterChain plainChain() {
    return FilterChainBuilder.stateless().add(shared.directReads()).add(wire).build();
  }

  private FilterChain chain() throws GeneralSecurityException {
    if (!secure) {
      return plainChain();
    }
    SSLFilter tls = Tls.filter(settings.sslContext(), url.getHost(), port);
    tls.addHandshakeListener(
        new SSLBaseFilter.HandshakeListener() {
          @Override
          public void onStart(Connection<?> connection) {}

          @Override
          public void onComplete(Connection<?> connection) {}

          @Override
          public void onFailure(Connection<?> connection, Throwable failure) {
            endpoint.failed(failure);
          }
        });
    return FilterChainBuilder.stateless().add(new TransportFilter()).add(tls).add(wire).build();
  }

  private @Nullable InetSocketAddress proxy() throws URISyntaxException {
    ProxySelector selector = ProxySelector.getDefault();
    if (selector == null) {
      return null;
    }
    // It knows no WebSocket; RFC 6455, section 4.1, says what to ask for instead.
    for (String scheme : List.of("socket", "https", "http")) {
      URI asked = new URI(scheme, null, url.getHost(), port, url.getPath(), null, null);
      for (Proxy proxy : selector.select(asked)) {
        if (proxy.type() == Proxy.Type.HTTP && proxy.address() instanceof InetSocketAddress named) {
          return named.isUnresolved()
              ? new InetSocketAddress(named.getHostString(), named.getPort())
              : named;
        }
      }
    }
    return null;
  }
}
