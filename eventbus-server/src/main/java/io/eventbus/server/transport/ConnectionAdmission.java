package io.eventbus.server.transport;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.admission.AddressUsages;
import io.eventbus.server.admission.Admission;
import io.eventbus.server.admission.ConnectionLimit;
import io.eventbus.server.admission.ConnectionUsage;
import io.eventbus.server.admission.ForwardedClient;
import io.eventbus.server.admission.ProxyNetworks;
import io.eventbus.server.stats.BusCounters;
import io.eventbus.server.stats.RefusalReason;
import io.eventbus.server.tls.FailureText;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.Attribute;
import io.netty.util.AttributeKey;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Admission of the connections to one bus: counts them, knows the proxies, and reports refusals.
 * Shared by all loops; methods with a channel as argument are for that channel's loop.
 */
// The listeners of a channel's end cannot fail.
@SuppressWarnings("FutureReturnValueIgnored")
final class ConnectionAdmission {
  private static final AttributeKey<Visit> VISIT =
      AttributeKey.valueOf(ConnectionAdmission.class, "visit");

  /** Prefix of the usual headers, such as {@code X-Forwarded-For}. */
  private static final String FORWARDED = "X-Forwarded-";

  /** Advice where a PROXY preface comes from an unknown sender. */
  static final String UNKNOWN_PROXY =
      "a proxy that sends the PROXY protocol has to be in listen.proxies";

  private final ConnectionLimit limit;
  private final AddressUsages accounts;
  private final ProxyNetworks proxies;
  private final ForwardedClient forwarded;
  private final BusCounters stats;
  private final RateLimitedLog log =
      new RateLimitedLog(LoggerFactory.getLogger(ConnectionAdmission.class));
  private final AtomicInteger sockets = new AtomicInteger();
  private final AtomicInteger answered = new AtomicInteger();

  ConnectionAdmission(
      ConnectionLimit limit, AddressUsages accounts, ProxyNetworks proxies, BusCounters stats) {
    this.limit = limit;
    this.accounts = accounts;
    this.proxies = proxies;
    this.forwarded = new ForwardedClient(proxies);
    this.stats = stats;
  }

  /**
   * Resources that one channel has acquired and releases at its end: in one listener, to save
   * memory.
   */
  private final class Visit implements ChannelFutureListener {
    private boolean hasSocket;
    private boolean isCounted;
    private @Nullable ConnectionUsage account;
    private boolean hasEnded;

    @Override
    public void operationComplete(ChannelFuture closed) {
      hasEnded = true;
      release();
    }

    /** Releases at once what was acquired after the end. */
    void acquiredMore() {
      if (hasEnded) {
        release();
      }
    }

    private void release() {
      if (hasSocket) {
        hasSocket = false;
        sockets.decrementAndGet();
      }
      if (isCounted) {
        isCounted = false;
        stats.connections.decrementAndGet();
      }
      if (account != null) {
        account.close();
      }
    }
  }

  /** Reports an address from a proxy that cannot be right. */
  void tellUnusable(Channel channel, String why) {
    log.warn("unusable", "a request of {} is refused with 400: {}", address(channel), why);
  }

  /** Tells of a PROXY preface that came from none of the proxies that the bus knows. */
  void tellUnknownProxy(Channel channel, Throwable why) {
    log.warn(
        "unreadable",
        "a request of {} cannot be read and is refused with 400: {} ({})",
        address(channel),
        FailureText.of(why),
        UNKNOWN_PROXY);
  }

  private static String address(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress address
        ? NetUtil.toSocketAddressString(address)
        : "an unknown address";
  }

  /**
   * Returns the visit of a channel; created by the accepting thread, before the channel's loop has
   * the channel.
   */
  private Visit visit(Channel channel) {
    Attribute<Visit> place = channel.attr(VISIT);
    Visit visit = place.get();
    if (visit == null) {
      visit = new Visit();
      place.set(visit);
      channel.closeFuture().addListener(visit);
    }
    return visit;
  }

  /**
   * Acquires a descriptor for a connection that was just accepted, on the accepting thread: a
   * connection that gets none must not wait for a loop before its descriptor is released.
   *
   * @return false if there is none, neither to serve the connection nor to refuse it with an answer
   */
  boolean acquireSocket(Channel accepted) {
    stats.accepted.increment();
    if (sockets.incrementAndGet() > (long) limit.connections() + limit.answered()) {
      sockets.decrementAndGet();
      refused(accepted.remoteAddress(), tooMany());
      return false;
    }
    Visit visit = visit(accepted);
    visit.hasSocket = true;
    visit.acquiredMore();
    return true;
  }

  /**
   * Admits a connection, or returns why not. A proxy's connection does not count for an address
   * yet.
   */
  Optional<Admission.Refused> enter(Channel channel) {
    Optional<Admission.Refused> refusal;
    if (stats.connections.incrementAndGet() > limit.connections()) {
      refusal = Optional.of(tooMany());
      refused(channel.remoteAddress(), tooMany());
    } else if (isProxy(channel.remoteAddress())) {
      refusal = Optional.empty();
    } else {
      refusal = admit(channel, channel.remoteAddress());
    }
    if (refusal.isPresent()) {
      stats.connections.decrementAndGet();
    } else {
      Visit visit = visit(channel);
      visit.isCounted = true;
      visit.acquiredMore();
    }
    return refusal;
  }

  private Admission.Refused tooMany() {
    return new Admission.Refused(
        limit.reason(),
        "the bus has as many connections as it may, "
            + limit.connections()
            + ": "
            + limit.message());
  }

  /** Admits a connection as a client's, or returns why not. */
  Optional<Admission.Refused> admit(Channel channel, @Nullable SocketAddress client) {
    if (!(client instanceof InetSocketAddress address)) {
      // The channel has ended already.
      return Optional.empty();
    }
    // A loopback address from a remote proxy is one of another machine.
    boolean exempt = isLoopback(address) && isLoopback(channel.remoteAddress());
    Admission verdict = accounts.admit(address, exempt);
    if (verdict instanceof Admission.Refused refusal) {
      refused(address, refusal);
      return Optional.of(refusal);
    }
    ConnectionUsage account = ((Admission.Admitted) verdict).account();
    Visit visit = visit(channel);
    visit.account = account;
    visit.acquiredMore();
    return Optional.empty();
  }

  private static boolean isLoopback(@Nullable SocketAddress address) {
    return address instanceof InetSocketAddress ip
        && ip.getAddress() != null
        && ProxyNetworks.LOOPBACK.contains(ip.getAddress());
  }

  private void refused(@Nullable SocketAddress client, Admission.Refused refusal) {
    countRefused(refusal.reason());
    log.warn(
        refusal.reason().name(),
        "refused a connection of {}: {}",
        String.valueOf(client),
        refusal.message());
  }

  /** Counts a connection that is refused for another reason. */
  void countRefused(RefusalReason reason) {
    stats.countRefused(reason);
  }

  /** Counts a handshake that is refused because the TLS threads are busy; any thread. */
  void tlsBusy() {
    countRefused(RefusalReason.TLS_BUSY);
    log.warn(
        RefusalReason.TLS_BUSY.name(),
        "closed a new connection: too many TLS handshakes wait for their turn");
  }

  /** Counts a TLS handshake that is refused because it holds too much memory; any thread. */
  void tlsTooLong() {
    countRefused(RefusalReason.TLS_BUSY);
    log.warn(
        "handshake",
        "closed a new connection: its TLS handshake holds more than it may, or than there is room"
            + " for");
  }

  /**
   * Returns whether a refused connection gets an answer; beyond the limit connections are closed
   * without one.
   */
  boolean acquireAnswer(Channel channel) {
    if (answered.incrementAndGet() > limit.answered()) {
      answered.decrementAndGet();
      return false;
    }
    channel.closeFuture().addListener(f -> answered.decrementAndGet());
    return true;
  }

  boolean isProxy(@Nullable SocketAddress address) {
    return address instanceof InetSocketAddress ip && proxies.contains(ip.getAddress());
  }

  /** Finds the client of a request that came from a proxy. */
  SocketAddress clientOf(SocketAddress proxy, HttpHeaders headers)
      throws ForwardedClient.UnusableException {
    Optional<InetSocketAddress> told =
        forwarded.find(headers.getAll("Forwarded"), headers.getAll("X-Forwarded-For"));
    return told.isPresent() ? told.get() : proxy;
  }

  /**
   * Returns whether a request has passed a proxy, even if the bus does not believe its headers:
   * many proxies set only one of them.
   */
  static boolean isForwarded(HttpHeaders headers) {
    return headers.contains("Forwarded")
        || headers.contains("Via")
        || headers.contains("X-Real-IP")
        || headers.names().stream()
            .anyMatch(name -> name.regionMatches(true, 0, FORWARDED, 0, FORWARDED.length()));
  }

  /** Returns whether the connection already counts for an address. */
  static boolean isAdmitted(Channel channel) {
    Visit visit = channel.attr(VISIT).get();
    return visit != null && visit.account != null;
  }

  /** Returns the usage of a connection; an unlimited one if it was never admitted. */
  static ConnectionUsage account(Channel channel) {
    Visit visit = channel.attr(VISIT).get();
    if (visit != null && visit.account != null) {
      return visit.account;
    }
    InetSocketAddress client =
        channel.remoteAddress() instanceof InetSocketAddress ip
            ? ip
            : InetSocketAddress.createUnresolved("unknown", 0);
    return ConnectionUsage.unlimited(client, null);
  }
}
