package io.eventbus.server.memory;

import io.eventbus.server.stats.SingleWriterCounter;
import org.jspecify.annotations.Nullable;

/**
 * Share of one connection in the memory for services, with its bounds: no few of them can take
 * everything, and one that wants little gets it while others sit on all that they may have.
 * Confined to the loop but for {@link #bytes}.
 *
 * <p>Two loops may pass a bound of the bus by one call each: it is a bound, not an exact account.
 */
public final class ServiceShare {
  /** Number of equal parts of the bus's bytes of which a connection may have one. */
  private static final int CONNECTION_PART = 4;

  /** Bytes that every connection may have while at least a quarter of the bus's is left. */
  public static final long SMALL_BYTES = 32 << 10;

  /** Limit group of one client address, shared by its connections. Confined to the loop. */
  public interface Address {
    /** Limit group of a connection without an address limit. */
    Address UNBOUNDED =
        new Address() {
          @Override
          public boolean acquireServiceBytes(long bytes) {
            return true;
          }

          @Override
          public void releaseServiceBytes(long bytes) {}
        };

    /**
     * Acquires bytes for services; returns false, and acquires nothing, if there are not so many
     * left.
     */
    boolean acquireServiceBytes(long bytes);

    /** Releases what was acquired, or a part of it. */
    void releaseServiceBytes(long bytes);
  }

  private final ServiceMemory.OfLoop loop;
  private final Address address;
  private final boolean bounded;
  private final SingleWriterCounter bytes = new SingleWriterCounter();
  // Bytes that were counted though the address had no room for them.
  private long added;

  private ServiceShare(ServiceMemory.OfLoop loop, Address address, boolean bounded) {
    this.loop = loop;
    this.address = address;
    this.bounded = bounded;
  }

  /** Creates the share of a client's connection. */
  public ServiceShare(ServiceMemory.OfLoop loop, Address address) {
    this(loop, address, true);
  }

  /**
   * Creates the share of a peer, which bounds its own clients: it is counted, and not refused for
   * its size.
   */
  public static ServiceShare ofBus(ServiceMemory.OfLoop loop) {
    return new ServiceShare(loop, Address.UNBOUNDED, false);
  }

  /**
   * Acquires room before something is created; returns null, or the limit that it would pass, to be
   * shown to the client: then nothing was acquired.
   *
   * @param cost bytes, with those held elsewhere
   */
  public @Nullable String acquire(long cost, long elsewhere) {
    if (bounded) {
      String problem = problem(cost);
      if (problem != null) {
        return problem;
      }
    }
    bytes.add(cost);
    loop.change(cost, elsewhere);
    return null;
  }

  private @Nullable String problem(long cost) {
    ServiceMemory all = loop.all();
    long limit = all.limit();
    long own = bytes.get();
    if (own > 0 && own + cost > ownPart()) {
      return "the "
          + all.what()
          + " of the connection take "
          + own
          + " bytes, and this one "
          + cost
          + " (expected: at most "
          + ownPart()
          + " together, an eighth of limits.memory-bytes or "
          + SMALL_BYTES
          + ")";
    }
    long used = all.used();
    if (used + cost > limit) {
      return "the "
          + all.what()
          + " of all connections take "
          + used
          + " bytes, and this one "
          + cost
          + " (expected: at most "
          + limit
          + " together, half of limits.memory-bytes)";
    }
    long small = smallBytes(limit - used, limit / 4);
    if (used > limit / 4 * 3 && own + cost > small) {
      return "the "
          + all.what()
          + " of the connection take "
          + own
          + " bytes, and this one "
          + cost
          + " (expected: at most "
          + small
          + " together while those of all take over three quarters of "
          + limit
          + ", half of limits.memory-bytes)";
    }
    if (!address.acquireServiceBytes(cost)) {
      return "the "
          + all.what()
          + " of all connections from the client's address have no room for "
          + cost
          + " bytes more (expected: at most limits.address-memory-percent of limits.memory-bytes,"
          + " with those for everything else of services)";
    }
    return null;
  }

  /**
   * Returns the part of the last quarter that a connection may have. With the square of what is
   * left it gets so little that many connections, each with all that it may have, leave something
   * for the next.
   */
  private static long smallBytes(long left, long quarter) {
    double part = (double) left / quarter;
    return (long) (SMALL_BYTES * part * part);
  }

  /** Returns the bytes that the connection may use for services while most of the room is free. */
  public long ownPart() {
    return Math.max(SMALL_BYTES, loop.all().limit() / CONNECTION_PART);
  }

  /**
   * Counts bytes that have to be kept although there may be no room, because their use has begun.
   */
  public void add(long cost) {
    bytes.add(cost);
    loop.change(cost, 0);
    added += address.acquireServiceBytes(cost) ? 0 : cost;
  }

  /** Releases what was acquired, also after the end of the connection. */
  public void release(long cost, long elsewhere) {
    if (cost == 0) {
      return;
    }
    bytes.add(-cost);
    loop.change(-cost, -elsewhere);
    // The address is not given back what it had no room for.
    long notTaken = Math.min(added, cost);
    added -= notTaken;
    address.releaseServiceBytes(cost - notTaken);
  }

  /**
   * Returns whether so little is left for all that even connections with little will soon get
   * nothing.
   */
  public boolean isLastRoom() {
    ServiceMemory all = loop.all();
    return all.used() > all.limit() - all.limit() / 16;
  }

  /**
   * Returns whether more than half of what all may hold is held: the other half is not for calls
   * that only wait for a member to come.
   */
  public boolean isHalfUsed() {
    ServiceMemory all = loop.all();
    return all.used() > all.limit() / 2;
  }

  /** Returns the bytes that the bus holds for the connection; any thread. */
  public long bytes() {
    return bytes.get();
  }
}
