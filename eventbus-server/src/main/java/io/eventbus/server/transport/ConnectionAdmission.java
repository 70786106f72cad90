package io.eventbus.server.transport;

import io.eventbus.server.admission.AddressUsages;
import io.eventbus.server.admission.Admission;
import io.eventbus.server.admission.ConnectionLimit;
import io.eventbus.server.admission.ConnectionUsage;
import io.eventbus.server.admission.ForwardedClient;
import io.eventbus.server.admission.ProxyNetworks;
import io.eventbus.server.log.RateLimitedLog;
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
 * Who may come in, of those who connect to one bus: counts connections, knows the proxies, and
 * tells of those that were refused. Shared by all loops; what has a channel as its argument is for
 * that channel's loop.
 */
// The listeners of a channel's end cannot fail.
@SuppressWarnings("FutureReturnValueIgnored")
final class ConnectionAdmission {
  private static final AttributeKey<Visit> VISIT =
      AttributeKey.valueOf(ConnectionAdmission.class, "visit");

  /** What the names of the usual headers begin with, such as {@code X-Forwarded-For}. */
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

  /** What one channel has taken, and gives back at its end: in one listener, for memory's sake. */
  private final class Visit implements ChannelFutureListener {
    private boolean hasSocket;
    private boolean isCounted;
    private @Nullable ConnectionUsage account;
    private boolean hasEnded;

    @Override
    public void operationComplete(ChannelFuture closed) {
      hasEnded = true;
      giveBack();
    }

    /** Gives back at once what was taken after the end. */
    void tookMore() {
      if (hasEnded) {
        giveBack();
      }
    }

    private void giveBack() {
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

  /** Tells that a proxy says where its client is, and that it cannot be so. */
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

  /** The thread that accepts makes it, before the channel's loop has the channel. */
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
   * Takes a descriptor for a connection that was just accepted, on the thread that accepts: those
   * that find none must not wait for a loop before theirs is given back.
   *
   * @return false if there is none, neither to serve the connection nor to refuse it with an answer
   */
  boolean takeSocket(Channel accepted) {
    stats.accepted.increment();
    if (sockets.incrementAndGet() > (long) limit.connections() + limit.answered()) {
      sockets.decrementAndGet();
      refused(accepted.remoteAddress(), tooMany());
      return false;
    }
    Visit visit = visit(accepted);
    visit.hasSocket = true;
    visit.tookMore();
    return true;
  }

  /** Lets a connection in, or says why not. One of a proxy is not yet that of an address. */
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
      visit.tookMore();
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

  /** Lets a connection in as one of a client, or says why not. */
  Optional<Admission.Refused> admit(Channel channel, @Nullable SocketAddress client) {
    if (!(client instanceof InetSocketAddress address)) {
      // It has ended already.
      return Optional.empty();
    }
    // A proxy elsewhere that speaks of loopback means another machine's.
    boolean exempt = isLoopback(address) && isLoopback(channel.remoteAddress());
    Admission verdict = accounts.admit(address, exempt);
    if (verdict instanceof Admission.Refused refusal) {
      refused(address, refusal);
      return Optional.of(refusal);
    }
    ConnectionUsage account = ((Admission.Admitted) verdict).account();
    Visit visit = visit(channel);
    visit.account = account;
    visit.tookMore();
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

  /** The threads for TLS have too much to do; any thread. */
  void tlsBusy() {
    countRefused(RefusalReason.TLS_BUSY);
    log.warn(
        RefusalReason.TLS_BUSY.name(),
        "closed a new connection: too many TLS handshakes wait for their turn");
  }

  /** A TLS handshake holds more than it may, or than there is room for; any thread. */
  void tlsTooLong() {
    countRefused(RefusalReason.TLS_BUSY);
    log.warn(
        "handshake",
        "closed a new connection: its TLS handshake holds more than it may, or than there is room"
            + " for");
  }

  /** Says whether a refused connection gets an answer; those beyond are closed without a word. */
  boolean takeAnswer(Channel channel) {
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
   * Says whether a request has passed a proxy, whether or not the bus believes what it says: many
   * proxies set only one of these headers.
   */
  static boolean isForwarded(HttpHeaders headers) {
    return headers.contains("Forwarded")
        || headers.contains("Via")
        || headers.contains("X-Real-IP")
        || headers.names().stream()
            .anyMatch(name -> name.regionMatches(true, 0, FORWARDED, 0, FORWARDED.length()));
  }

  /** Says whether it is known already which address a connection counts for. */
  static boolean isAdmitted(Channel channel) {
    Visit visit = channel.attr(VISIT).get();
    return visit != null && visit.account != null;
  }

  /** Returns the account of a connection; of one that came in by no door, an unlimited one. */
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
