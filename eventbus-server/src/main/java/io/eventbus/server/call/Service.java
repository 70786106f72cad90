package io.eventbus.server.call;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A name that is served, or that calls wait for, on a bus. Any thread: who chooses a member reads
 * an array that is replaced when members come and go, which alone is done under a lock.
 */
final class Service {
  private static final ServiceMember[] NONE = {};

  private final String account;
  private final String name;
  private final AtomicInteger queued = new AtomicInteger();
  private final WaitingLoops waiting;
  // By number. Members without concurrency are in it, too.
  private volatile ServiceMember[] members = NONE;
  // Whether a member takes calls, or would if it had not failed.
  private volatile boolean served;
  // At least the window of each member; it may be more, after windows have shrunk.
  private volatile int widest;
  private int serving;
  // Members, and loops that know it. Guarded by the directory.
  int uses;

  Service(String account, String name, int loops) {
    this.account = account;
    this.name = name;
    this.waiting = new WaitingLoops(loops);
  }

  /** Whose it is; empty for the default account. */
  String account() {
    return account;
  }

  String name() {
    return name;
  }

  /** Calls that wait for a place, in all loops. */
  AtomicInteger queued() {
    return queued;
  }

  WaitingLoops waiting() {
    return waiting;
  }

  ServiceMember[] members() {
    return members;
  }

  boolean isServed() {
    return served;
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

  synchronized void add(ServiceMember member, boolean serves) {
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
      serves(1);
    }
  }

  /** Returns true if the service was served until now. */
  synchronized boolean remove(ServiceMember member, boolean serves) {
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
    return serves && serves(-1);
  }

  /** One member more, or less, takes calls; returns true if none does any more. */
  synchronized boolean serves(int change) {
    serving += change;
    served = serving > 0;
    return serving == 0;
  }

  /**
   * Stops a member that fails: never more than half of them, because then the fault is hardly
   * theirs.
   *
   * @return for how many nanoseconds; 0 if it goes on
   */
  synchronized long pause(MemberWindow window) {
    return 2 * (paused() + 1) <= serving ? window.pause() : 0;
  }

  /** Whether members that are stopped have to go on, because too few others are left. */
  synchronized boolean mustResume() {
    return 2 * paused() > serving;
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
