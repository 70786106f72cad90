package io.eventbus.client.tyrus;

import io.eventbus.client.internal.base.TransportProvider;
import jakarta.websocket.ClientEndpointConfig;
import jakarta.websocket.DeploymentException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.security.GeneralSecurityException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.glassfish.grizzly.Connection;
import org.glassfish.grizzly.EmptyCompletionHandler;
import org.glassfish.grizzly.filterchain.FilterChain;
import org.glassfish.grizzly.filterchain.FilterChainBuilder;
import org.glassfish.grizzly.filterchain.TransportFilter;
import org.glassfish.grizzly.nio.transport.TCPNIOConnectorHandler;
import org.glassfish.grizzly.ssl.SSLFilter;
import org.glassfish.tyrus.spi.ClientContainer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opening of one connection: TCP, perhaps through a proxy of the JDK's {@link ProxySelector}, TLS,
 * and the upgrade. Nothing waits here: names are looked up elsewhere, and the rest happens on the
 * selector thread.
 */
final class TyrusHandshake {
  private static final Logger LOG = LoggerFactory.getLogger(TyrusHandshake.class);

  /** Settings of every connection of a client. */
  record Environment(
      SharedTransport shared,
      TransportProvider.Settings settings,
      HostAddresses.Resolver resolver,
      HostAddresses addresses) {}

  private final SharedTransport shared;
  private final TransportProvider.Settings settings;
  private final HostAddresses.Resolver resolver;
  private final HostAddresses addresses;
  private final URI url;
  private final TyrusConnection endpoint;
  private final TyrusWire wire;
  private final boolean secure;
  private final int port;
  private final long deadline;

  /**
   * Creates an opening; {@link #open} begins.
   *
   * @param deadline of {@link System#nanoTime}, which the addresses of the host share
   */
  TyrusHandshake(Environment environment, URI url, TyrusConnection endpoint, long deadline) {
    this.shared = environment.shared();
    this.settings = environment.settings();
    this.resolver = environment.resolver();
    this.addresses = environment.addresses();
    this.url = url;
    this.endpoint = endpoint;
    this.deadline = deadline;
    this.wire = endpoint.wire();
    this.secure = "wss".equals(url.getScheme());
    this.port = url.getPort() >= 0 ? url.getPort() : secure ? 443 : 80;
  }

  void open() {
    try {
      askTyrus();
      InetSocketAddress proxy = proxy();
      long left = Math.max(0, deadline - System.nanoTime());
      var unused =
          shared
              .lookups()
              .find(resolver, proxy == null ? url.getHost() : proxy.getHostString(), left)
              .whenCompleteAsync((all, failure) -> begin(proxy, all, failure), shared.openings());
    } catch (Exception | LinkageError e) {
      endpoint.failed(e);
    }
  }

  /** Goes on with the result of the name service: addresses, or a failure. */
  private void begin(
      @Nullable InetSocketAddress proxy,
      InetAddress @Nullable [] all,
      @Nullable Throwable failure) {
    if (wire.isCancelled()) {
      return;
    }
    try {
      if (all == null) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        endpoint.failed(cause == null ? new UnknownHostException(url.getHost()) : cause);
      } else if (proxy == null) {
        new Attempts(addresses.inTurn(url.getHost(), port, all), chain(), false).next();
      } else {
        InetSocketAddress found = new InetSocketAddress(all[0], proxy.getPort());
        new Attempts(List.of(found), plainChain(), true).next();
      }
    } catch (GeneralSecurityException | RuntimeException | LinkageError e) {
      endpoint.failed(e);
    }
  }

  /** Has Tyrus create its side of the handshake, which it gives to the wire. */
  private void askTyrus() throws DeploymentException, IOException {
    ClientEndpointConfig config =
        ClientEndpointConfig.Builder.create()
            .preferredSubprotocols(List.of(settings.subProtocol()))
            .build();
    config.getUserProperties().put(BusContainer.WIRE, wire);
    config
        .getUserProperties()
        // Not allocated: frames over the limit are refused before Tyrus gets them.
        .put(ClientContainer.WLS_INCOMING_BUFFER_SIZE, Integer.MAX_VALUE);
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

  /** Attempts to connect to one address after the other, until one accepts the connection. */
  private final class Attempts {
    private final Deque<InetSocketAddress> left;
    private final List<InetSocketAddress> all;
    private final FilterChain chain;
    private final boolean throughProxy;

    Attempts(List<InetSocketAddress> all, FilterChain chain, boolean throughProxy) {
      this.all = all;
      this.left = new ArrayDeque<>(all);
      this.chain = chain;
      this.throughProxy = throughProxy;
    }

    /** Begins the next attempt; called by one thread after the other, as each attempt fails. */
    void next() {
      InetSocketAddress address = left.removeFirst();
      Attempt attempt = new Attempt(this);
      TCPNIOConnectorHandler connector =
          new TCPNIOConnectorHandler(shared.grizzly()) {
            @Override
            @SuppressWarnings("rawtypes") // Grizzly's connector is written with raw connections.
            public void preConfigure(Connection connection) {
              wire.socket(connection);
            }
          };
      connector.setProcessor(chain);
      connector.connect((SocketAddress) address, attempt);
      if (!left.isEmpty()) {
        long share = Math.max(0, deadline - System.nanoTime()) / (left.size() + 1);
        CompletableFuture.delayedExecutor(share, TimeUnit.NANOSECONDS, shared.openings())
            .execute(attempt::late);
      }
    }

    void connected(Connection<?> connection) {
      wire.connected(connection);
      if (throughProxy) {
        wire.tunnel(HttpHead.connect(url.getHost(), port), () -> proxied(connection));
      } else {
        wire.upgrade();
      }
    }

    void late() {
      wire.dropSocket();
      failed(new SocketTimeoutException("no answer in the time that an address has"));
    }

    void failed(Throwable failure) {
      if (wire.isCancelled()) {
        return;
      }
      if (left.isEmpty()) {
        endpoint.failed(all.size() == 1 ? failure : ofAll(failure));
        return;
      }
      LOG.debug("an address of {} does not answer, trying the next", url, failure);
      try {
        next();
      } catch (RuntimeException e) {
        endpoint.failed(e);
      }
    }

    private Throwable ofAll(Throwable failure) {
      String tried =
          all.stream()
              .map(address -> address.getAddress().getHostAddress())
              .collect(Collectors.joining(", "));
      return failure instanceof ConnectException
          ? new ConnectException(failure.getMessage() + ", as at all of " + tried)
          : new IOException(failure.getMessage() + ", tried: " + tried, failure);
    }
  }

  /** Attempt at one address: it accepts the connection, refuses it, or is late. */
  @SuppressWarnings("rawtypes") // As above.
  private static final class Attempt extends EmptyCompletionHandler<Connection> {
    private final Attempts of;
    private final AtomicBoolean settled = new AtomicBoolean();

    Attempt(Attempts of) {
      this.of = of;
    }

    @Override
    public void completed(Connection connection) {
      if (settled.compareAndSet(false, true)) {
        of.connected(connection);
      } else {
        connection.terminateSilently();
      }
    }

    @Override
    public void failed(Throwable failure) {
      if (settled.compareAndSet(false, true)) {
        of.failed(failure);
      }
    }

    void late() {
      if (settled.compareAndSet(false, true)) {
        of.late();
      }
    }
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
    SSLFilter tls = Tls.filter(settings.sslContext(), url.getHost(), port, endpoint::failed);
    return FilterChainBuilder.stateless().add(new TransportFilter()).add(tls).add(wire).build();
  }

  private @Nullable InetSocketAddress proxy() throws URISyntaxException {
    ProxySelector selector = ProxySelector.getDefault();
    if (selector == null) {
      return null;
    }
    // The selector knows no WebSocket; RFC 6455, section 4.1, says what to ask for instead.
    for (String scheme : List.of("socket", "https", "http")) {
      URI asked = new URI(scheme, null, url.getHost(), port, url.getPath(), null, null);
      for (Proxy proxy : selector.select(asked)) {
        if (proxy.type() == Proxy.Type.HTTP && proxy.address() instanceof InetSocketAddress named) {
          return named;
        }
      }
    }
    return null;
  }
}
