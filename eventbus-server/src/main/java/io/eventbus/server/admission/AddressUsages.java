package io.eventbus.server.admission;

import io.eventbus.base.TokenBucket;
import io.eventbus.server.config.AddressLimitsConfig;
import io.eventbus.server.stats.RefusalReason;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Usages of all client addresses. Any thread.
 *
 * <p>A usage exists while its address has a connection, and beyond that until its rate of
 * handshakes is back at full, or {@value #MAX_LINGERING} others are remembered for the same reason:
 * so there are never more than that and the open connections.
 */
public final class AddressUsages {
  static final int MAX_LINGERING = 65_536;

  /** Number of lingering entries that each new connection checks: more than it can add. */
  private static final int LOOKS = 4;

  private final AddressLimitsConfig limits;
  private final long heldShare;
  private final long subscriptionShare;
  private final long interestShare;
  private final long serviceShare;
  private final AuthenticationFailures failures;
  private final LongSupplier nanoTime;
  private final ConcurrentHashMap<ClientAddress, AddressUsage> accounts = new ConcurrentHashMap<>();
  private final Queue<ClientAddress> lingering = new ConcurrentLinkedQueue<>();
  private final AtomicInteger lingerers = new AtomicInteger();

  /**
   * Creates an empty table.
   *
   * @param limits limits of one address
   * @param memoryBytes all that the bus may hold for clients
   * @param subscriptionBytes all that subscriptions may take
   * @param interest filters that peers may be told of
   * @param serviceBytes all that the bus may hold for services
   * @param nanoTime as {@link System#nanoTime}
   */
  public AddressUsages(
      AddressLimitsConfig limits,
      long memoryBytes,
      long subscriptionBytes,
      long interest,
      long serviceBytes,
      AuthenticationFailures failures,
      LongSupplier nanoTime) {
    this.failures = failures;
    this.limits = limits;
    this.heldShare = share(memoryBytes, limits.memoryPercent());
    this.subscriptionShare = share(subscriptionBytes, limits.memoryPercent());
    this.interestShare = share(interest, limits.memoryPercent());
    this.serviceShare = share(serviceBytes, limits.memoryPercent());
    this.nanoTime = nanoTime;
  }

  private static long share(long of, int percent) {
    return of / 100 * percent + of % 100 * percent / 100;
  }

  /**
   * Admits a connection, if the limits of its address allow it.
   *
   * @param client its address; a port of 0 is not known
   * @return its usage, or why not
   */
  public Admission admit(InetSocketAddress client, boolean exempt) {
    InetAddress ip = client.getAddress();
    if (exempt || ip == null) {
      return new Admission.Admitted(ConnectionUsage.unlimited(client, failures));
    }
    long now = nanoTime.getAsLong();
    lookAtLingering(now);
    ClientAddress address = ClientAddress.of(ip);
    Admission[] verdict = new Admission[1];
    accounts.compute(
        address,
        (key, known) -> {
          AddressUsage account = known != null ? known : new AddressUsage(handshakeRate(now));
          Admission.Refused refused = refusal(key, account, now);
          if (refused == null) {
            account.enter(now);
            verdict[0] = new Admission.Admitted(new ConnectionUsage(client, this, key, account));
          } else {
            verdict[0] = refused;
          }
          return account.isForgettable(now) ? null : account;
        });
    return verdict[0];
  }

  /** Returns the rate of new connections: so many a second on the average of ten. */
  private TokenBucket handshakeRate(long now) {
    long perSecond = limits.handshakesPerSecond();
    return TokenBucket.ofBurst(perSecond, 10 * perSecond, now);
  }

  /** Returns the limit that is reached, null for none. */
  private Admission.@Nullable Refused refusal(
      ClientAddress address, AddressUsage account, long now) {
    if (limits.connections() != 0 && account.connections >= limits.connections()) {
      return refused(
          RefusalReason.ADDRESS_CONNECTIONS,
          "limits.address-connections: " + address + " has " + account.connections + " connections",
          limits.connections());
    }
    if (limits.handshakes() != 0 && account.handshakes >= limits.handshakes()) {
      return refused(
          RefusalReason.ADDRESS_HANDSHAKES,
          "limits.address-handshakes: "
              + address
              + " has "
              + account.handshakes
              + " connections that have not been welcomed",
          limits.handshakes());
    }
    if (account.rate.waitNanos(now) > 0) {
      return refused(
          RefusalReason.ADDRESS_HANDSHAKE_RATE,
          "limits.address-handshake-rate: too many new connections of "
              + address
              + " in a second on the average of ten",
          limits.handshakesPerSecond());
    }
    return null;
  }

  private static Admission.Refused refused(RefusalReason reason, String what, int limit) {
    return new Admission.Refused(reason, what + " (expected: at most " + limit + ")");
  }

  /** Notes that a connection was welcomed. */
  void welcomed(ClientAddress address) {
    accounts.computeIfPresent(
        address,
        (key, account) -> {
          account.handshakes--;
          return account;
        });
  }

  /** Leaves with a connection that has ended. */
  void left(ClientAddress address, boolean welcomed) {
    long now = nanoTime.getAsLong();
    accounts.computeIfPresent(
        address,
        (key, account) -> {
          account.connections--;
          if (!welcomed) {
            account.handshakes--;
          }
          if (account.isForgettable(now)) {
            return null;
          }
          if (account.connections == 0 && !account.lingers) {
            account.lingers = true;
            lingering.add(key);
            lingerers.incrementAndGet();
          }
          return account;
        });
  }

  private void lookAtLingering(long now) {
    for (int i = 0; i < LOOKS; i++) {
      ClientAddress oldest = lingering.poll();
      if (oldest == null) {
        return;
      }
      boolean tooMany = lingerers.getAndDecrement() > MAX_LINGERING;
      accounts.computeIfPresent(
          oldest,
          (key, account) -> {
            account.lingers = false;
            if (account.connections > 0) {
              return account;
            }
            if (tooMany || account.isForgettable(now)) {
              return null;
            }
            account.lingers = true;
            lingering.add(key);
            lingerers.incrementAndGet();
            return account;
          });
    }
  }

  AuthenticationFailures failures() {
    return failures;
  }

  boolean isOverShare(AddressUsage account) {
    return account.held.get() > heldShare;
  }

  boolean isInterestFull(AddressUsage account) {
    return account.interest.get() >= interestShare;
  }

  boolean acquireSubscriptionBytes(AddressUsage account, long bytes) {
    return take(account.subscriptionBytes, bytes, subscriptionShare);
  }

  boolean acquireServiceBytes(AddressUsage account, long bytes) {
    return take(account.serviceBytes, bytes, serviceShare);
  }

  private static boolean take(AtomicLong taken, long bytes, long share) {
    if (taken.addAndGet(bytes) > share) {
      taken.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  /** Returns how many addresses are known. */
  public int size() {
    return accounts.size();
  }
}
