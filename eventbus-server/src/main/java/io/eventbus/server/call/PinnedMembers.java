package io.eventbus.server.call;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where a member is that a call is for, and no other: here, or at another bus. Confined to a loop.
 *
 * <p>No bus knows the members of the others. So a call for one that is not here goes to the bus
 * from which that member has last answered, and then to all others that serve in turn: each says at
 * once if it does not have the member.
 */
final class PinnedMembers {
  private static final int MAX = 4_096;

  private final Map<Long, ServiceMember> answeredFrom =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, ServiceMember> eldest) {
          return size() > MAX;
        }
      };

  /** A member of another bus has answered. */
  void answered(long member, ServiceMember bus) {
    if (member != 0) {
      answeredFrom.put(member, bus);
    }
  }

  /** The member that a call is for, or the next bus that may have it; null if there is none. */
  @Nullable ServiceMember member(Call call, LoopService to) {
    ServiceMember here = to.service.member(call.pinned());
    if (here != null || call.isHome()) {
      return here;
    }
    ServiceMember known = answeredFrom.get(call.pinned());
    if (known != null && !call.refusals.has(known) && serves(known, to)) {
      return known;
    }
    for (ServiceMember bus : to.far) {
      if (!call.refusals.has(bus)) {
        return bus;
      }
    }
    return null;
  }

  private static boolean serves(ServiceMember bus, LoopService to) {
    for (ServiceMember each : to.far) {
      if (each == bus) {
        return true;
      }
    }
    return false;
  }
}
