package io.eventbus.server.call.dispatch;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Locates the member that a pinned call names: here, or at a peer. Confined to a loop.
 *
 * <p>No bus knows the members of its peers. So a call for a member that is not here goes to the
 * peer from which that member has last answered, and then to all other peers that serve: each says
 * at once if it does not have the member.
 */
final class PinnedMembers {
  private static final int MAX_MEMBERS = 4_096;

  private final Map<Long, CandidateMember> answeredFrom =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, CandidateMember> eldest) {
          return size() > MAX_MEMBERS;
        }
      };

  /** Records the peer from which a member has answered. */
  void answered(long member, CandidateMember bus) {
    if (member != 0) {
      answeredFrom.put(member, bus);
    }
  }

  /**
   * Returns the member that a call names, or the next peer that may have it; null if there is none.
   */
  @Nullable CandidateMember member(QueuedCall call, QueuedService to) {
    CandidateMember here = to.service().member(call.pinned());
    if (here != null || call.isLocalOnly()) {
      return here;
    }
    CandidateMember known = answeredFrom.get(call.pinned());
    if (known != null && !call.hasRefused(known) && serves(known, to)) {
      return known;
    }
    for (CandidateMember bus : to.peers()) {
      if (!call.hasRefused(bus)) {
        return bus;
      }
    }
    return null;
  }

  private static boolean serves(CandidateMember bus, QueuedService to) {
    for (CandidateMember each : to.peers()) {
      if (each == bus) {
        return true;
      }
    }
    return false;
  }
}
