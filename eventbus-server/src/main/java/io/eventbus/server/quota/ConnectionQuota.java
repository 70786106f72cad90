package io.eventbus.server.quota;

import io.eventbus.server.config.ClientQuotas;
import io.eventbus.server.config.Quota;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Use of one connection of the quotas of its identity and of its account. Confined to the
 * connection's loop. At its end everything is released, and nothing is counted any more.
 *
 * <p>A client without quotas has none of these.
 */
public final class ConnectionQuota {
  /**
   * Minimum of the random time after which a waiting connection tries again: those that wait for
   * the same bucket have equal chances then, and a thousand of them do not keep a loop busy.
   */
  private static final long MIN_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private static final long MAX_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(15);

  /**
   * Step in which waiting bytes are counted, so that a reader that keeps up touches nothing that is
   * shared.
   */
  private static final long STEP_BYTES = 16 * 1024;

  /**
   * Retry-after for a refused call: when a call may end is not known, and much earlier retries are
   * in vain.
   */
  private static final long CALL_RETRY_MILLIS = 100;

  private final QuotaAccounts accounts;
  private final QuotaHolder identity;
  private final QuotaHolder account;
  private int subscriptions;
  private int calls;
  private long toldQueueBytes;
  private boolean waits;
  private boolean waitsToSend;
  private boolean cut;
  private boolean closed;

  ConnectionQuota(QuotaAccounts accounts, QuotaHolder identity, QuotaHolder account) {
    this.accounts = accounts;
    this.identity = identity;
    this.account = account;
  }

  QuotaHolder identity() {
    return identity;
  }

  QuotaHolder account() {
    return account;
  }

  /**
   * Replaces the limits, for all clients of the identity and of the account. Those that are passed
   * already end nothing.
   */
  public void renew(ClientQuotas quotas) {
    identity.limit(quotas.identity());
    account.limit(quotas.account());
  }

  /**
   * Returns the nanoseconds for which the connection must not be read, because too much has been
   * published; 0 if it may publish.
   */
  public long publishWaitNanos(long nowNanos) {
    long least = Math.max(identity.publishWaitNanos(nowNanos), account.publishWaitNanos(nowNanos));
    if (least == 0) {
      waits = false;
      return 0;
    }
    if (!waits) {
      waits = true;
      noteWait(identity, nowNanos);
      noteWait(account, nowNanos);
    }
    return lengthened(least);
  }

  private static long lengthened(long nanos) {
    return nanos + ThreadLocalRandom.current().nextLong(MIN_WAIT_NANOS, MAX_WAIT_NANOS);
  }

  private void noteWait(QuotaHolder sharers, long nowNanos) {
    Quota lacking = sharers.publishLacks(nowNanos);
    if (lacking != null) {
      accounts.waits(sharers, lacking, nowNanos);
    }
  }

  /**
   * Counts what was published.
   *
   * @param bytes of the frame
   */
  public void published(int events, long bytes, long nowNanos) {
    identity.published(events, bytes, nowNanos);
    account.published(events, bytes, nowNanos);
  }

  /**
   * Returns the nanoseconds for which the connection must not be read, because too many bytes have
   * been sent; 0 if it may send a payload that is no event.
   */
  public long sendWaitNanos(long nowNanos) {
    long ofIdentity = identity.sendWaitNanos(nowNanos);
    long ofAccount = account.sendWaitNanos(nowNanos);
    boolean mayNot = ofIdentity > 0 || ofAccount > 0;
    if (mayNot && !waitsToSend) {
      if (ofIdentity > 0) {
        accounts.waits(identity, Quota.PUBLISH_BYTES, nowNanos);
      }
      if (ofAccount > 0) {
        accounts.waits(account, Quota.PUBLISH_BYTES, nowNanos);
      }
    }
    waitsToSend = mayNot;
    return mayNot ? lengthened(Math.max(ofIdentity, ofAccount)) : 0;
  }

  /**
   * Counts a payload that is no event.
   *
   * @param bytes of the frame
   */
  public void sent(long bytes, long nowNanos) {
    identity.sent(bytes, nowNanos);
    account.sent(bytes, nowNanos);
  }

  /**
   * Acquires room for a subscription; returns null, or for the client why there is none: then
   * nothing was acquired.
   */
  public @Nullable String acquireSubscription() {
    if (!identity.acquireSubscription()) {
      return refuse(identity);
    }
    if (!account.acquireSubscription()) {
      identity.changeSubscriptions(-1);
      return refuse(account);
    }
    subscriptions++;
    return null;
  }

  private String refuse(QuotaHolder sharers) {
    return accounts.refuse(
        sharers,
        Quota.SUBSCRIPTIONS,
        "have " + sharers.subscriptions() + " subscriptions together on this bus",
        "end those that are not needed");
  }

  /** Counts subscriptions that were there before there were quotas. */
  public void hasSubscriptions(int count) {
    subscriptions += count;
    identity.changeSubscriptions(count);
    account.changeSubscriptions(count);
  }

  /** Releases the room of a subscription that has ended. */
  public void releaseSubscription() {
    if (subscriptions > 0) {
      hasSubscriptions(-1);
    }
  }

  /**
   * Reason why a call is refused.
   *
   * @param retryAfterMillis when another try may be worth it
   */
  public record RefusedCall(String message, long retryAfterMillis) {}

  /**
   * Acquires room for a call, and counts its request; {@link #callsInFlight} has to follow. Returns
   * null, or why there is none: then nothing was acquired.
   */
  public @Nullable RefusedCall acquireCall(long nowNanos) {
    long ofIdentity = identity.requestWaitNanos(nowNanos);
    long ofAccount = account.requestWaitNanos(nowNanos);
    if (ofIdentity > 0 || ofAccount > 0) {
      return new RefusedCall(
          accounts.refuse(
              ofIdentity >= ofAccount ? identity : account,
              Quota.REQUESTS,
              "have made as many requests to this bus as they may in a second",
              "make fewer"),
          TimeUnit.NANOSECONDS.toMillis(Math.max(ofIdentity, ofAccount)) + 1);
    }
    if (!identity.acquireCall()) {
      return refuseCall(identity);
    }
    if (!account.acquireCall()) {
      identity.changeCalls(-1);
      return refuseCall(account);
    }
    identity.requested(nowNanos);
    account.requested(nowNanos);
    calls++;
    return null;
  }

  /** Acquires room for further calls of a request that counts as one call so far. */
  public @Nullable RefusedCall acquireFurtherCalls(int further) {
    if (!identity.acquireCalls(further)) {
      return refuseCalls(identity, further);
    }
    if (!account.acquireCalls(further)) {
      identity.changeCalls(-further);
      return refuseCalls(account, further);
    }
    calls += further;
    return null;
  }

  private RefusedCall refuseCall(QuotaHolder sharers) {
    return refuseCalls(sharers, 0);
  }

  private RefusedCall refuseCalls(QuotaHolder sharers, int further) {
    long others = sharers.calls() - (further == 0 ? 0 : 1);
    return new RefusedCall(
        accounts.refuse(
            sharers,
            Quota.CALLS,
            "have "
                + others
                + " calls in flight together on this bus"
                + (further == 0
                    ? ""
                    : ", and the request is one call for each of " + (further + 1) + " members"),
            "make fewer at once"),
        CALL_RETRY_MILLIS);
  }

  /** Notes how many calls of the connection are in flight. */
  public void callsInFlight(int count) {
    int change = count - calls;
    if (closed || change == 0) {
      return;
    }
    calls = count;
    identity.changeCalls(change);
    account.changeCalls(change);
  }

  /** Counts all bytes that wait for the connection now. */
  public void holds(long bytes) {
    long change = bytes - toldQueueBytes;
    if (closed || change == 0 || (bytes != 0 && Math.abs(change) < STEP_BYTES)) {
      return;
    }
    toldQueueBytes = bytes;
    identity.changeQueueBytes(change);
    account.changeQueueBytes(change);
  }

  /**
   * Returns what the connection's queue may hold, at most {@code own}: while all together hold more
   * than their quota, the equal part of each.
   *
   * @param own bound of the queue without quotas, in bytes
   */
  public long queueBound(long own) {
    if (closed) {
      return own;
    }
    long ofIdentity = identity.queueBound(own);
    long bound = account.queueBound(ofIdentity);
    boolean isCut = bound < own;
    if (isCut && !cut) {
      accounts.waits(
          bound < ofIdentity ? account : identity, Quota.QUEUE_BYTES, accounts.nanoTime());
    }
    cut = isCut;
    return bound;
  }

  /** Releases everything. Does nothing the second time. */
  public void close() {
    if (!closed) {
      hasSubscriptions(-subscriptions);
      holds(0);
      callsInFlight(0);
      closed = true;
      accounts.left(this);
    }
  }
}
