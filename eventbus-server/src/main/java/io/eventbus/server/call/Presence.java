package io.eventbus.server.call;

import io.eventbus.server.memory.ServiceMemory;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Presence of members at this bus. Any thread.
 *
 * <p>A client whose connection was lost counts as a member for a while, in which it may come back:
 * here, without an event, or at a peer, which then reports that it has moved. So events do not
 * flicker with connections. Listeners get them in order, under the lock.
 */
public final class Presence {
  /** Divisor of the memory for registrations for members whose connections were lost. */
  private static final int AWAY_PART = 4;

  /** Kind of presence event. */
  public enum Change {
    /** Member serves, and did not before. */
    JOINED,
    /** Member no longer serves. */
    LEFT,
    /** Member served at a peer, and serves here now. */
    MOVED
  }

  /** Reason for the end of a membership. */
  public enum Departure {
    /** Client has left on purpose. */
    FINAL,
    /** Connection is lost: the client may come back. */
    LOST,
    /** Client moves to another bus. */
    MOVED_AWAY
  }

  /**
   * Member as others may know it. Immutable.
   *
   * @param concurrency calls that it works on at once; 0 for none
   */
  public record Member(
      String account,
      long number,
      String client,
      int concurrency,
      String version,
      Map<String, String> metadata) {}

  /** Event of a member. Immutable. */
  public record PresenceEvent(Change change, String service, Member member) {}

  /** Timer for delayed tasks. An implementation must not block and must not throw. */
  @FunctionalInterface
  public interface Timer {
    /**
     * Runs a task once, on any thread, after a delay in nanoseconds; not after the end of the bus.
     */
    void later(Runnable task, long nanos);
  }

  private static final class Entry {
    Member member;
    int connections = 1;
    // Number of the loss that is waited for, and the bytes it is counted for; 0 for none.
    long away;
    long awayBytes;
    // True if another bus has the client, whose connection here is about to end.
    boolean leaves;

    Entry(Member member) {
      this.member = member;
    }
  }

  // Guarded by this object. By number, then by service.
  private final Map<Long, Map<String, Entry>> members = new HashMap<>();
  private Consumer<PresenceEvent> listener = event -> {};
  private @Nullable Timer timer;
  private long rejoinNanos;
  private final ServiceMemory memory;
  private final long maxAwayBytes;
  private long losses;
  // Bytes of members whose connections were lost, of each account and of all.
  private final Map<String, Long> awayOfAccounts = new HashMap<>();
  private long awayBytes;

  Presence(ServiceMemory memory) {
    this.memory = memory;
    this.maxAwayBytes = memory.limit() / AWAY_PART;
  }

  /**
   * Starts to report events.
   *
   * @param newListener called under the lock: must not block, must not throw and must not call back
   * @param rejoin time that a lost member may be away, in nanoseconds
   */
  public synchronized void listen(
      Consumer<PresenceEvent> newListener, Timer newTimer, long rejoin) {
    listener = newListener;
    timer = newTimer;
    rejoinNanos = rejoin;
  }

  /** Reports a connection that serves. */
  public synchronized void joined(String service, Member member, boolean fromPeer) {
    Map<String, Entry> services =
        members.computeIfAbsent(member.number(), number -> new HashMap<>(4));
    Entry entry = services.get(service);
    if (entry == null) {
      services.put(service, new Entry(member));
      report(fromPeer ? Change.MOVED : Change.JOINED, service, member);
      return;
    }
    // With the bytes it was counted for.
    isBack(entry);
    entry.connections++;
    entry.member = member;
    entry.leaves = false;
  }

  private void isBack(Entry entry) {
    if (entry.away != 0) {
      entry.away = 0;
      countAway(entry.member.account(), -entry.awayBytes);
    }
  }

  /**
   * Waits for a lost member if there is room: an account may use as much as is left for all others.
   */
  private boolean keep(String service, Entry entry) {
    String account = entry.member.account();
    long bytes = CallHeap.ofAway(service, entry.member);
    long own = awayOfAccounts.getOrDefault(account, 0L);
    if (own + bytes > maxAwayBytes - awayBytes) {
      return false;
    }
    entry.away = ++losses;
    entry.awayBytes = bytes;
    countAway(account, bytes);
    return true;
  }

  private void countAway(String account, long change) {
    awayBytes += change;
    memory.change(change);
    awayOfAccounts.merge(account, change, (a, b) -> a + b == 0 ? null : Long.valueOf(a + b));
  }

  /** Reports a connection that no longer serves. */
  public synchronized void left(String service, long number, Departure departure) {
    Map<String, Entry> services = members.get(number);
    Entry entry = services == null ? null : services.get(service);
    if (entry == null || --entry.connections > 0) {
      return;
    }
    Timer waits = timer;
    boolean goesOn =
        departure == Departure.MOVED_AWAY || (departure == Departure.LOST && entry.leaves);
    if (departure == Departure.LOST && !goesOn && waits != null && keep(service, entry)) {
      long loss = entry.away;
      waits.later(() -> over(service, number, loss), rejoinNanos);
      return;
    }
    remove(service, number);
    if (!goesOn) {
      report(Change.LEFT, service, entry.member);
    }
  }

  private synchronized void over(String service, long number, long loss) {
    Map<String, Entry> services = members.get(number);
    Entry entry = services == null ? null : services.get(service);
    if (entry != null && entry.away == loss) {
      isBack(entry);
      remove(service, number);
      report(Change.LEFT, service, entry.member);
    }
  }

  /**
   * Records that a client that is away, or whose connection is about to end, is at another bus,
   * which reports it.
   */
  public synchronized void movedAway(long number) {
    Map<String, Entry> services = members.get(number);
    if (services == null) {
      return;
    }
    services
        .values()
        .removeIf(
            entry -> {
              boolean gone = entry.away != 0;
              isBack(entry);
              entry.leaves = true;
              return gone;
            });
    if (services.isEmpty()) {
      members.remove(number);
    }
  }

  private void remove(String service, long number) {
    Map<String, Entry> services = members.get(number);
    if (services != null) {
      services.remove(service);
      if (services.isEmpty()) {
        members.remove(number);
      }
    }
  }

  private void report(Change change, String service, Member member) {
    listener.accept(new PresenceEvent(change, service, member));
  }
}
