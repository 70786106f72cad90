package io.eventbus.server.call;

import io.eventbus.server.call.dispatch.CandidateService;
import io.eventbus.server.call.dispatch.MemberWindow;
import io.eventbus.server.call.dispatch.WaitingLoops;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Service of a bus that has members or waiting calls. Any thread: the choice of a member reads an
 * array that is replaced when members come and go, which alone is done under a lock. Peers that
 * serve it are counted here, and listed by each loop ({@link LoopService#peers}).
 */
final class LocalService implements CandidateService {
  private static final ServiceMember[] NONE = {};

  /** Loss of a service with the end of a member. */
  enum Loss {
    /** Other members serve it. */
    NONE,
    /** No member at this bus serves it any more. */
    HERE,
    /** No member is left, here or at a peer. */
    ALL
  }

  private final ServiceKey key;
  private final AtomicInteger queued = new AtomicInteger();
  private final WaitingLoops waiting;
  private final WaitingLoops localWaiting;
  private final ServedHere listener;
  // Ordered by number; includes members without concurrency.
  private volatile ServiceMember[] members = NONE;
  // True if a member takes calls, or would if it had not failed.
  private volatile boolean served;
  // The same for members that are connected to this bus.
  private volatile boolean servedHere;
  // Start of the time in which members have places, as far as known; and the same for local
  // members.
  private volatile long openNanos;
  private volatile long openHereNanos;
  // Upper bound of the members' windows; may be too large after windows have shrunk.
  private volatile int maxWindow;
  private int serving;
  private int servingHere;
  // Streams to peers that have places there.
  private int openPeers;
  // Queue lengths reported by the streams of peers that have calls here, and the number of these
  // streams.
  private final AtomicLong queuedAtPeers = new AtomicLong();
  private final AtomicInteger demandStreams = new AtomicInteger();
  // Number of members, and of loops that know it. Guarded by the directory.
  int uses;

  LocalService(ServiceKey key, int loops, ServedHere listener) {
    this.key = key;
    this.waiting = new WaitingLoops(loops);
    this.localWaiting = new WaitingLoops(loops);
    this.listener = listener;
  }

  /** Returns the account; empty for the default account. */
  String account() {
    return key.account();
  }

  String name() {
    return key.name();
  }

  ServiceKey key() {
    return key;
  }

  @Override
  public AtomicInteger queued() {
    return queued;
  }

  @Override
  public WaitingLoops waiting() {
    return waiting;
  }

  @Override
  public WaitingLoops localWaiting() {
    return localWaiting;
  }

  /** Returns the number of calls that wait at peers with calls here, as reported by them. */
  AtomicLong queuedAtPeers() {
    return queuedAtPeers;
  }

  /** Returns the number of streams of peers with calls here. */
  AtomicInteger demandStreams() {
    return demandStreams;
  }

  @Override
  public ServiceMember[] members() {
    return members;
  }

  boolean isServed() {
    return served;
  }

  /** Returns whether a member that is connected to this bus takes calls. */
  boolean isServedHere() {
    return servedHere;
  }

  @Override
  public boolean isServed(boolean local) {
    return local ? servedHere : served;
  }

  @Override
  public long openNanos(boolean local) {
    return local ? openHereNanos : openNanos;
  }

  /** Called when a peer starts or ceases to have places. */
  synchronized void openPeers(boolean open, long nowNanos) {
    if (open && openPeers == 0 && !hasPlacesHere(null)) {
      openNanos = nowNanos;
    }
    openPeers += open ? 1 : -1;
  }

  private boolean hasPlacesHere(@Nullable ServiceMember butFor) {
    for (ServiceMember member : members) {
      if (member != butFor && member.window().limit() > 0) {
        return true;
      }
    }
    return false;
  }

  @Override
  public int maxWindow() {
    return maxWindow;
  }

  /** Raises the upper bound of windows. */
  void raiseMaxWindow(int window) {
    if (window > maxWindow) {
      // A concurrent update may be lost: the choice is a little less fair until the next one.
      maxWindow = window;
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

  /** Removes a member; returns the loss of the service. */
  synchronized Loss remove(ServiceMember member, boolean serves, long nowNanos) {
    ServiceMember[] before = members;
    ServiceMember[] after = new ServiceMember[before.length - 1];
    int at = 0;
    int max = 0;
    for (ServiceMember each : before) {
      if (each != member) {
        after[at++] = each;
        max = Math.max(max, each.window().limit());
      }
    }
    members = after;
    maxWindow = max;
    return serves ? serves(-1, member, nowNanos) : Loss.NONE;
  }

  /** Changes the number of members that take calls by one. */
  synchronized Loss serves(int change, ServiceMember member, long nowNanos) {
    boolean here = !member.isPeer();
    serving += change;
    served = serving > 0;
    boolean wasServedHere = servedHere;
    if (here) {
      servingHere += change;
      servedHere = servingHere > 0;
    }
    // A peer reports itself when it is open.
    if (here && change > 0 && !hasPlacesHere(member)) {
      openHereNanos = nowNanos;
      if (openPeers == 0) {
        openNanos = nowNanos;
      }
    }
    if (servedHere != wasServedHere) {
      // Under the lock, so that listeners hear changes in order.
      listener.servedHere(key, servedHere);
    }
    return change > 0 || (served && servedHere == wasServedHere)
        ? Loss.NONE
        : served ? Loss.HERE : Loss.ALL;
  }

  /**
   * Pauses a failing member; never more than half of them, because then the fault is hardly theirs.
   * Returns the duration in nanoseconds; 0 if it is not paused.
   */
  synchronized long pause(MemberWindow window) {
    return 2 * (paused() + 1) <= servingHere ? window.pause() : 0;
  }

  /** Returns whether paused members have to resume, because too few others are left. */
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

  @Override
  public @Nullable ServiceMember member(long number) {
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
