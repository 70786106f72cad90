package io.eventbus.server.admission;

import io.eventbus.base.RateLimitedLog;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Recent failures of authentication of each address. Any thread.
 *
 * <p>At most {@value #MAX_ADDRESSES} addresses are remembered; the one that failed least lately is
 * forgotten first.
 */
public final class AuthenticationFailures {
  /** Failures in a minute that are answered at once. */
  public static final int PROMPT_ANSWERS = 5;

  static final int MAX_ADDRESSES = 16_384;
  private static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final RateLimitedLog audit;
  private final LongSupplier nanoTime;
  private final Map<ClientAddress, Recent> addresses = new LinkedHashMap<>();

  /** Times of the last failures, in a ring. */
  private static final class Recent {
    private final long[] times = new long[PROMPT_ANSWERS];
    private int count;

    boolean add(long now) {
      int at = count % PROMPT_ANSWERS;
      boolean many = count >= PROMPT_ANSWERS && now - times[at] < WINDOW_NANOS;
      times[at] = now;
      // Stays where the ring is, and never overflows.
      count = count + 1 == 2 * PROMPT_ANSWERS ? PROMPT_ANSWERS : count + 1;
      return many;
    }

    boolean isMany(long now) {
      return count >= PROMPT_ANSWERS && now - times[count % PROMPT_ANSWERS] < WINDOW_NANOS;
    }

    boolean isOld(long now) {
      return now - times[(count - 1) % PROMPT_ANSWERS] >= WINDOW_NANOS;
    }
  }

  /**
   * Creates an empty memory.
   *
   * @param audit log of failures
   * @param nanoTime as {@link System#nanoTime}
   */
  public AuthenticationFailures(RateLimitedLog audit, LongSupplier nanoTime) {
    this.audit = audit;
    this.nanoTime = nanoTime;
  }

  /**
   * Notes a failure.
   *
   * @param address of the client
   * @param reason for the log, as it goes on after "a client"
   */
  public boolean note(InetAddress address, String reason) {
    ClientAddress key = ClientAddress.of(address);
    audit.warn(
        key.toString(),
        "authentication failed: a client at {} {}",
        NetUtil.toAddressString(address),
        reason);
    return note(key);
  }

  private synchronized boolean note(ClientAddress address) {
    long now = nanoTime.getAsLong();
    // Behind all that failed before.
    Recent known = addresses.remove(address);
    Recent recent = known == null ? new Recent() : known;
    addresses.put(address, recent);
    boolean many = recent.add(now);
    Iterator<Recent> oldest = addresses.values().iterator();
    Recent first = oldest.next();
    if (addresses.size() > MAX_ADDRESSES || first.isOld(now)) {
      oldest.remove();
    }
    return many;
  }

  /** Returns whether there were {@value #PROMPT_ANSWERS} failures within a minute. */
  public synchronized boolean isMany(InetAddress address) {
    Recent recent = addresses.get(ClientAddress.of(address));
    return recent != null && recent.isMany(nanoTime.getAsLong());
  }

  /** Returns whether there was a failure within a minute, also if it is not yet {@link #isMany}. */
  public synchronized boolean isAny(InetAddress address) {
    Recent recent = addresses.get(ClientAddress.of(address));
    return recent != null && !recent.isOld(nanoTime.getAsLong());
  }

  synchronized int size() {
    return addresses.size();
  }
}
