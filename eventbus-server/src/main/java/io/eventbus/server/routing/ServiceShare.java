package io.eventbus.server.routing;

import io.eventbus.server.stats.SingleWriterCounter;
import org.jspecify.annotations.Nullable;

/**
 * Account of what one connection makes the bus hold for services, with its bounds: no few of them
 * can take everything, and one that wants little gets it while others sit on all that they may
 * have. Confined to the loop but for {@link #bytes}.
 *
 * <p>Two loops may pass a bound of the bus by one call each: it is a bound, not an account.
 */
public final class ServiceShare {
  /** Number of equal parts of the bus's bytes of which a connection may have one. */
  private static final int CONNECTION_PART = 4;

  /** Bytes that every connection may have while at least a quarter of the bus's is left. */
  public static final long SMALL_BYTES = 32 << 10;

  /** Account that the connections of one client address share. Confined to the loop. */
  public interface Address {
    /** No address, or one without a limit. */
    Address UNBOUNDED =
        new Address() {
          @Override
          public boolean takeServiceBytes(long bytes) {
            return true;
          }

          @Override
          public void giveServiceBytes(long bytes) {}
        };

    /**
     * Takes some of what they may make the bus hold for services together.
     *
     * @param bytes at least 0
     * @return false if there is not so much left; then nothing was taken
     */
    boolean takeServiceBytes(long bytes);

    /**
     * Gives back what was taken.
     *
     * @param bytes all of it or a part
     */
    void giveServiceBytes(long bytes);
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

  /** Makes the share of a client's connection. */
  public ServiceShare(ServiceMemory.OfLoop loop, Address address) {
    this(loop, address, true);
  }

  /**
   * Makes the share of another bus, which bounds its own clients: it is counted, and not refused
   * for its size.
   *
   * @return the share
   */
  public static ServiceShare ofBus(ServiceMemory.OfLoop loop) {
    return new ServiceShare(loop, Address.UNBOUNDED, false);
  }

  /**
   * Takes room before something is made.
   *
   * @param cost bytes, with what is held elsewhere
   * @return null, or which limit it would pass, to be shown to the client; then nothing was taken
   */
  public @Nullable String take(long cost, long elsewhere) {
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
    if (!address.takeServiceBytes(cost)) {
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
   * Returns what a connection may have of the last quarter. With the square of what is left it gets
   * so little that many connections, each with all that it may have, leave something for the next.
   */
  private static long smallBytes(long left, long quarter) {
    double part = (double) left / quarter;
    return (long) (SMALL_BYTES * part * part);
  }

  /**
   * Returns what the connection may make the bus hold while most of the room is free.
   *
   * @return bytes
   */
  public long ownPart() {
    return Math.max(SMALL_BYTES, loop.all().limit() / CONNECTION_PART);
  }

  /**
   * Counts what has to be kept although there may be no room, because it has begun.
   *
   * @param cost bytes
   */
  public void add(long cost) {
    bytes.add(cost);
    loop.change(cost, 0);
    added += address.takeServiceBytes(cost) ? 0 : cost;
  }

  /** Gives back what was taken, also after the end of the connection. */
  public void give(long cost, long elsewhere) {
    if (cost == 0) {
      return;
    }
    bytes.add(-cost);
    loop.change(-cost, -elsewhere);
    // The address is not given back what it had no room for.
    long notTaken = Math.min(added, cost);
    added -= notTaken;
    address.giveServiceBytes(cost - notTaken);
  }

  /**
   * Says whether next to nothing is left for all.
   *
   * @return true where even connections with little will soon get nothing
   */
  public boolean isLastRoom() {
    ServiceMemory all = loop.all();
    return all.used() > all.limit() - all.limit() / 16;
  }

  /**
   * Says whether more than half of what all may hold is held: the other half is for what does not
   * only wait for a member to come.
   *
   * @return true where calls that nobody can take yet get no more
   */
  public boolean isHalfUsed() {
    ServiceMemory all = loop.all();
    return all.used() > all.limit() / 2;
  }

  /**
   * Returns what the bus holds for the connection; any thread.
   *
   * @return bytes
   */
  public long bytes() {
    return bytes.get();
  }
}
