package io.eventbus.server.call;

import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Selects the member for a call: the cheapest of all if they are few, else of two random ones, wide
 * windows more often ("the power of two choices", Mitzenmacher 1996); and the same among peers that
 * serve. Of the selected member and peer, the one that can be expected to answer first: so a call
 * leaves the bus if its members are busy or slow, and only then. Confined to a loop.
 */
final class MemberSelector {
  /** Cost of waking another loop; measured, ADR 16. */
  static final double OTHER_LOOP_NANOS = 30_000;

  /** Cost of sending a call on for both buses, in addition to what its answer shows. */
  static final double OTHER_BUS_NANOS = 100_000;

  /** Cost of a call to a bus that drains its clients: more than any member takes. */
  static final double DRAINING_NANOS = 1e12;

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
  @Nullable ServiceMember take(LoopService to, @Nullable Call call, boolean local, long nowNanos) {
    while (true) {
      ServiceMember here = best(to.service.members(), to.service.maxWindow(), call, nowNanos);
      ServiceMember bus = local ? null : bus(to, call, nowNanos);
      ServiceMember best = first(here, bus, nowNanos);
      // Another loop may have been faster.
      if (best == null || best.window().tryAcquire()) {
        return best;
      }
    }
  }

  private @Nullable ServiceMember first(
      @Nullable ServiceMember here, @Nullable ServiceMember bus, long nowNanos) {
    if (here == null || bus == null) {
      return here == null ? bus : here;
    }
    double localNanos = here.expected(loop, 0, nowNanos);
    return localNanos <= bus.expected(loop, localNanos, nowNanos) ? here : bus;
  }

  private @Nullable ServiceMember bus(LoopService to, @Nullable Call call, long nowNanos) {
    ServiceMember[] buses = to.peers;
    int maxWindow = 0;
    for (int i = 0; buses.length > FEW && i < buses.length; i++) {
      maxWindow = Math.max(maxWindow, buses[i].window().limit());
    }
    return best(buses, maxWindow, call, nowNanos);
  }

  private @Nullable ServiceMember best(
      ServiceMember[] members, int maxWindow, @Nullable Call call, long nowNanos) {
    int count = members.length;
    if (count > FEW) {
      ServiceMember best =
          cheaper(draw(members, maxWindow), draw(members, maxWindow), call, nowNanos);
      return best == null ? any(members, call) : best;
    }
    ServiceMember best = null;
    int start = count == 0 ? 0 : random.nextInt(count);
    for (int i = 0; i < count; i++) {
      best = cheaper(members[(start + i) % count], best, call, nowNanos);
    }
    return best;
  }

  private ServiceMember draw(ServiceMember[] members, int maxWindow) {
    ServiceMember drawn = members[random.nextInt(members.length)];
    for (int i = 1; i < DRAWS; i++) {
      if (random.nextInt(Math.max(1, maxWindow)) < drawn.window().limit()) {
        return drawn;
      }
      drawn = members[random.nextInt(members.length)];
    }
    return drawn;
  }

  private @Nullable ServiceMember cheaper(
      ServiceMember one, @Nullable ServiceMember other, @Nullable Call call, long nowNanos) {
    if (!suits(one, call)) {
      return other != null && suits(other, call) ? other : null;
    }
    if (other == null || !suits(other, call)) {
      return one;
    }
    return one.cost(loop, nowNanos) < other.cost(loop, nowNanos) ? one : other;
  }

  private static boolean suits(ServiceMember member, @Nullable Call call) {
    return member.window().hasFree() && (call == null || !call.refusals.has(member));
  }

  /** Returns the first with a free place, starting anywhere. */
  private @Nullable ServiceMember any(ServiceMember[] members, @Nullable Call call) {
    int start = random.nextInt(members.length);
    for (int i = 0; i < members.length; i++) {
      ServiceMember member = members[(start + i) % members.length];
      if (suits(member, call)) {
        return member;
      }
    }
    return null;
  }
}
