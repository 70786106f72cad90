package io.eventbus.server.call;

import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Which member of several gets a call: the one that costs least, of all if they are few, else of
 * two at random, wide windows more often ("the power of two choices", Mitzenmacher 1996). Confined
 * to a loop.
 */
final class Choice {
  /** What it costs to wake another loop up; measured, ADR 16. */
  static final double OTHER_LOOP_NANOS = 30_000;

  private static final int FEW = 4;

  /** Of so many draws one is taken as it is. */
  private static final int DRAWS = 8;

  private final SplittableRandom random;
  private final int loop;

  Choice(long seed, int loop) {
    this.random = new SplittableRandom(seed);
    this.loop = loop;
  }

  /**
   * Takes a place of a member.
   *
   * @param call not for members that have refused it; null for any call
   * @return the member, or null if no place is free
   */
  @Nullable ServiceMember take(Service service, @Nullable Call call, long nowNanos) {
    ServiceMember[] members = service.members();
    int count = members.length;
    if (count > FEW) {
      ServiceMember one = draw(members, service.widest());
      ServiceMember other = draw(members, service.widest());
      ServiceMember best = cheaper(one, other, call, nowNanos);
      if (best != null && best.window().take()) {
        return best;
      }
      return first(members, call);
    }
    while (count > 0) {
      ServiceMember best = null;
      int start = random.nextInt(count);
      for (int i = 0; i < count; i++) {
        best = cheaper(members[(start + i) % count], best, call, nowNanos);
      }
      // Another loop may have been faster.
      if (best == null || best.window().take()) {
        return best;
      }
    }
    return null;
  }

  private ServiceMember draw(ServiceMember[] members, int widest) {
    ServiceMember drawn = members[random.nextInt(members.length)];
    for (int i = 1; i < DRAWS; i++) {
      if (random.nextInt(Math.max(1, widest)) < drawn.window().limit()) {
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
    return member.window().hasFree() && (call == null || !call.wasRefusedBy(member));
  }

  /** The first with a free place, from somewhere on. */
  private @Nullable ServiceMember first(ServiceMember[] members, @Nullable Call call) {
    int start = random.nextInt(members.length);
    for (int i = 0; i < members.length; i++) {
      ServiceMember member = members[(start + i) % members.length];
      if (suits(member, call) && member.window().take()) {
        return member;
      }
    }
    return null;
  }
}
