package io.eventbus.server.call.dispatch;

import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Selects the member for a call: the cheapest of all if they are few, else of two random ones, wide
 * windows more often ("the power of two choices", Mitzenmacher 1996); and the same among peers that
 * serve. Of the selected member and peer, the one that can be expected to answer first: so a call
 * leaves the bus if its members are busy or slow, and only then. Confined to a loop.
 */
final class MemberSelector {
  private static final int FEW = 4;

  /** Number of draws of which one is taken as it is. */
  private static final int DRAWS = 8;

  private final SplittableRandom random;
  private final int loop;

  MemberSelector(long seed, int loop) {
    this.random = new SplittableRandom(seed);
    this.loop = loop;
  }

  /**
   * Acquires a place of a member or peer; returns null if none is free.
   *
   * @param call call to place, for which members that have refused it are skipped; null for any
   *     call
   * @param local whether only members of this bus are asked for
   */
  @Nullable CandidateMember take(
      QueuedService to, @Nullable QueuedCall call, boolean local, long nowNanos) {
    while (true) {
      CandidateService service = to.service();
      CandidateMember here = best(service.members(), service.maxWindow(), call, nowNanos);
      CandidateMember bus = local ? null : bus(to, call, nowNanos);
      CandidateMember best = first(here, bus, nowNanos);
      // Another loop may have been faster.
      if (best == null || best.window().tryAcquire()) {
        return best;
      }
    }
  }

  private @Nullable CandidateMember first(
      @Nullable CandidateMember here, @Nullable CandidateMember bus, long nowNanos) {
    if (here == null || bus == null) {
      return here == null ? bus : here;
    }
    double localNanos = here.expected(loop, 0, nowNanos);
    return localNanos <= bus.expected(loop, localNanos, nowNanos) ? here : bus;
  }

  private @Nullable CandidateMember bus(
      QueuedService to, @Nullable QueuedCall call, long nowNanos) {
    CandidateMember[] buses = to.peers();
    int maxWindow = 0;
    for (int i = 0; buses.length > FEW && i < buses.length; i++) {
      maxWindow = Math.max(maxWindow, buses[i].window().limit());
    }
    return best(buses, maxWindow, call, nowNanos);
  }

  private @Nullable CandidateMember best(
      CandidateMember[] members, int maxWindow, @Nullable QueuedCall call, long nowNanos) {
    int count = members.length;
    if (count > FEW) {
      CandidateMember best =
          cheaper(draw(members, maxWindow), draw(members, maxWindow), call, nowNanos);
      return best == null ? any(members, call) : best;
    }
    CandidateMember best = null;
    int start = count == 0 ? 0 : random.nextInt(count);
    for (int i = 0; i < count; i++) {
      best = cheaper(members[(start + i) % count], best, call, nowNanos);
    }
    return best;
  }

  private CandidateMember draw(CandidateMember[] members, int maxWindow) {
    CandidateMember drawn = members[random.nextInt(members.length)];
    for (int i = 1; i < DRAWS; i++) {
      if (random.nextInt(Math.max(1, maxWindow)) < drawn.window().limit()) {
        return drawn;
      }
      drawn = members[random.nextInt(members.length)];
    }
    return drawn;
  }

  private @Nullable CandidateMember cheaper(
      CandidateMember one,
      @Nullable CandidateMember other,
      @Nullable QueuedCall call,
      long nowNanos) {
    if (!suits(one, call)) {
      return other != null && suits(other, call) ? other : null;
    }
    if (other == null || !suits(other, call)) {
      return one;
    }
    return one.cost(loop, nowNanos) < other.cost(loop, nowNanos) ? one : other;
  }

  private static boolean suits(CandidateMember member, @Nullable QueuedCall call) {
    return member.window().hasFree() && (call == null || !call.hasRefused(member));
  }

  /** Returns the first with a free place, starting anywhere. */
  private @Nullable CandidateMember any(CandidateMember[] members, @Nullable QueuedCall call) {
    int start = random.nextInt(members.length);
    for (int i = 0; i < members.length; i++) {
      CandidateMember member = members[(start + i) % members.length];
      if (suits(member, call)) {
        return member;
      }
    }
    return null;
  }
}
