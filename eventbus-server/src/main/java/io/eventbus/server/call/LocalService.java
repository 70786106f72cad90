package io.eventbus.server.call;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A name that is served, or that calls wait for, on a bus. Any thread: who chooses a member reads
 * an array that is replaced when members come and go, which alone is done under a lock. Other buses
 * that serve it are counted here, and kept by each loop ({@link LoopService#far}).
 */
final class LocalService {
  private static final ServiceMember[] NONE = {};

  /** What a service has lost with a member. */
  enum Loss {
    /** Others serve it. */
    NONE,
    /** No member at this bus serves it any more. */
    HERE,
    /** Nobody serves it any more. */
    ALL
  }

  private final ServiceKey key;
  private final AtomicInteger queued = new AtomicInteger();
  private final WaitingLoops waiting;
  private final WaitingLoops homeWaiting;
  private final ServedHere listener;
  // By number. Members without concurrency are in it, too.
  private volatile ServiceMember[] members = NONE;
  // Whether a member takes calls, or would if it had not failed.
  private volatile boolean served;
  // The same of members that are connected to this bus.
  private volatile boolean servedHere;
  // Since when members have places, as far as that is known; and those of this bus.
  private volatile long openNanos;
  private volatile long openHereNanos;
  // At least the window of each member; it may be more, after windows have shrunk.
  private volatile int widest;
  private int serving;
  private int servingHere;
  // Streams to other buses that have places there.
  private int openElsewhere;
  // What the streams of other buses that have calls here say of their queues, and how many they
  // are.
  private final AtomicLong queuedElsewhere = new AtomicLong();
  private final AtomicInteger askers = new AtomicInteger();
  // Members, and loops that know it. Guarded by the directory.
  int uses;

  LocalService(ServiceKey key, int loops, ServedHere listener) {
    this.key = key;
    this.waiting = new WaitingLoops(loops);
    this.homeWaiting = new WaitingLoops(loops);
    this.listener = listener;
  }

  /** Whose it is; empty for the default account. */
  String account() {
    return key.account();
  }

  String name() {
    return key.name();
  }

  ServiceKey key() {
    return key;
  }

  /** Calls that wait for a place, in all loops. */
  AtomicInteger queued() {
    return queued;
  }

  /** The loops with calls for any member. */
  WaitingLoops waiting() {
    return waiting;
  }

  /** The loops with calls of other buses, which only members of this one may have. */
  WaitingLoops homeWaiting() {
    return homeWaiting;
  }

  /** Calls that wait at other buses which have calls here, as they have said. */
  AtomicLong queuedElsewhere() {
    return queuedElsewhere;
  }

  /** Streams of other buses that have calls here. */
  AtomicInteger askers() {
    return askers;
  }

  ServiceMember[] members() {
    return members;
  }

  boolean isServed() {
    return served;
  }

  /** Whether a member that is connected to this bus takes calls. */
  boolean isServedHere() {
    return servedHere;
  }

  /**
   * Says whether a member takes calls.
   *
   * @param home whether only members of this bus count
   */
  boolean isServed(boolean home) {
    return home ? servedHere : served;
  }

  /**
   * Returns since when members have places, as far as that is known; any time if none has.
   *
   * @param home whether only members of this bus count
   */
  long openNanos(boolean home) {
    return home ? openHereNanos : openNanos;
  }

  /** Another bus has places from now on, or has none any more. */
  synchronized void openElsewhere(boolean open, long nowNanos) {
    if (open && openElsewhere == 0 && !hasPlacesHere(null)) {
      openNanos = nowNanos;
    }
    openElsewhere += open ? 1 : -1;
  }

  private boolean hasPlacesHere(@Nullable ServiceMember butFor) {
    for (ServiceMember member : members) {
      if (member != butFor && member.window().limit() > 0) {
        return true;
      }
    }
    return false;
  }

  int widest() {
    return widest;
  }

  /** A member's window has become so wide. */
  void widened(int window) {
    if (window > widest) {
      // Another may be lost: it only makes the choice a little less fair until the next.
      widest = window;
    }
  }

  synchronized void add(ServiceMember member, boolean serves, long nowNanos) {
    ServiceMember[] before = members;
    int at = before.length;
    while (at > 0 && before[at - 1].number() > member.number()) {
      at--;
    }
    ServiceMember[] after = Arrays.copyOf(before, before.length + 1);
    System.arraycopy(before, at, after, at + 1, before.length - at);
    after[at] = member;
    members = after;
    if (serves) {
      serves(1, member, nowNanos);
    }
  }

  /** Returns what the service has lost with it. */
  synchronized Loss remove(ServiceMember member, boolean serves, long nowNanos) {
    ServiceMember[] before = members;
    ServiceMember[] after = new ServiceMember[before.length - 1];
    int at = 0;
    int most = 0;
    for (ServiceMember each : before) {
      if (each != member) {
        after[at++] = each;
        most = Math.max(most, each.window().limit());
      }
    }
    members = after;
    widest = most;
    return serves ? serves(-1, member, nowNanos) : Loss.NONE;
  }

  /** One member more, or less, takes calls. */
  synchronized Loss serves(int change, ServiceMember member, long nowNanos) {
    boolean here = !member.isFar();
    serving += change;
    served = serving > 0;
    boolean wasServedHere = servedHere;
    if (here) {
      servingHere += change;
      servedHere = servingHere > 0;
    }
    // Another bus is open when it says so.
    if (here && change > 0 && !hasPlacesHere(member)) {
      openHereNanos = nowNanos;
      if (openElsewhere == 0) {
        openNanos = nowNanos;
      }
    }
    if (servedHere != wasServedHere) {
      // In this order for those who are told.
      listener.servedHere(key, servedHere);
    }
    return change > 0 || (served && servedHere == wasServedHere)
        ? Loss.NONE
        : served ? Loss.HERE : Loss.ALL;
  }

  /**
   * Stops a member that fails: never more than half of them, because then the fault is hardly
   * theirs.
   *
   * @return for how many nanoseconds; 0 if it goes on
   */
  synchronized long pause(MemberWindow window) {
    return 2 * (paused() + 1) <= servingHere ? window.pause() : 0;
  }

  /** Whether members that are stopped have to go on, because too few others are left. */
  synchronized boolean mustResume() {
    return 2 * paused() > servingHere;
  }

  private int paused() {
    int paused = 0;
    for (ServiceMember member : members) {
      if (member.window().isPaused()) {
        paused++;
      }
    }
    return paused;
  }

  /** Returns the member with a number, if it takes calls; else null. */
  @Nullable ServiceMember member(long number) {
    ServiceMember[] all = members;
    int low = 0;
    int high = all.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (all[middle].number() < number) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (; low < all.length && all[low].number() == number; low++) {
      if (all[low].serves()) {
        return all[low];
      }
    }
    return null;
  }
}
