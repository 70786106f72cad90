package io.eventbus.server.call;

import io.eventbus.server.routing.ServiceMemory;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Who is a member of which service at this bus, and who hears of it. Any thread.
 *
 * <p>A client whose connection was lost counts as a member for a while, in which it may come back:
 * here, then nobody hears of it, or at another bus, which tells then that it has moved. So what is
 * told does not flicker with connections. Listeners are told in order, under the lock.
 */
public final class Presence {
  /**
   * Of what registrations may take, one part in so many is for members whose connections were lost.
   */
  private static final int AWAY_PART = 4;

  /** What becomes of a member. */
  public enum Change {
    /** It serves, and did not before. */
    JOINED,
    /** It serves no more. */
    LEFT,
    /** It served at another bus, and does so at this one now. */
    MOVED
  }

  /** Why a connection serves no more. */
  public enum Departure {
    /** The client wants it so. */
    FINAL,
    /** The connection is lost: the client may come back. */
    LOST,
    /** The client goes on at another bus. */
    ELSEWHERE
  }

  /**
   * A member as others may know it. Immutable.
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

  /** Something that has happened. Immutable. */
  public record Told(Change change, String service, Member member) {}

  /** Runs things later. An implementation must not block and must not throw. */
  @FunctionalInterface
  public interface Timer {
    /**
     * Runs a task once, on any thread.
     *
     * @param task not run any more after the end of the bus
     * @param nanos how long from now
     */
    void later(Runnable task, long nanos);
  }

  private static final class Entry {
    Member member;
    int connections = 1;
    // Which loss is waited for, and what it is counted for; 0 for none.
    long away;
    long awayBytes;
    // Another bus has the client, whose connection here is about to end.
    boolean leaves;

    Entry(Member member) {
      this.member = member;
    }
  }

  // Guarded by this object. By number, then by service.
  private final Map<Long, Map<String, Entry>> members = new HashMap<>();
  private Consumer<Told> listener = told -> {};
  private @Nullable Timer timer;
  private long rejoinNanos;
  private final ServiceMemory memory;
  private final long mostAwayBytes;
  private long losses;
  // Bytes of members whose connections were lost, of each account and of all.
  private final Map<String, Long> awayOfAccounts = new HashMap<>();
  private long awayBytes;

  Presence(ServiceMemory memory) {
    this.memory = memory;
    this.mostAwayBytes = memory.limit() / AWAY_PART;
  }

  /**
   * Begins to tell.
   *
   * @param newListener told under the lock: must not block, must not throw and must not call back
   * @param rejoin how long a member that was lost may be away, in nanoseconds
   */
  public synchronized void listen(Consumer<Told> newListener, Timer newTimer, long rejoin) {
    listener = newListener;
    timer = newTimer;
    rejoinNanos = rejoin;
  }

  /** A connection serves. */
  public synchronized void joined(String service, Member member, boolean fromElsewhere) {
    Map<String, Entry> services =
        members.computeIfAbsent(member.number(), number -> new HashMap<>(4));
    Entry entry = services.get(service);
    if (entry == null) {
      services.put(service, new Entry(member));
      tell(fromElsewhere ? Change.MOVED : Change.JOINED, service, member);
      return;
    }
    // By what it was counted for.
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
   * Waits for a member, where there is room: one account may have as much as is left for all
   * others.
   */
  private boolean keep(String service, Entry entry) {
    String account = entry.member.account();
    long bytes = CallHeap.ofAway(service, entry.member);
    long own = awayOfAccounts.getOrDefault(account, 0L);
    if (own + bytes > mostAwayBytes - awayBytes) {
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

  /** A connection serves no more. */
  public synchronized void left(String service, long number, Departure how) {
    Map<String, Entry> services = members.get(number);
    Entry entry = services == null ? null : services.get(service);
    if (entry == null || --entry.connections > 0) {
      return;
    }
    Timer waits = timer;
    boolean goesOn = how == Departure.ELSEWHERE || (how == Departure.LOST && entry.leaves);
    if (how == Departure.LOST && !goesOn && waits != null && keep(service, entry)) {
      long loss = entry.away;
      waits.later(() -> over(service, number, loss), rejoinNanos);
      return;
    }
    remove(service, number);
    if (!goesOn) {
      tell(Change.LEFT, service, entry.member);
    }
  }

  private synchronized void over(String service, long number, long loss) {
    Map<String, Entry> services = members.get(number);
    Entry entry = services == null ? null : services.get(service);
    if (entry != null && entry.away == loss) {
      isBack(entry);
      remove(service, number);
      tell(Change.LEFT, service, entry.member);
    }
  }

  /**
   * A client that is away, or whose connection is about to end, goes on at another bus, which tells
   * it.
   */
  public synchronized void wentElsewhere(long number) {
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

  private void tell(Change change, String service, Member member) {
    listener.accept(new Told(change, service, member));
  }
}
