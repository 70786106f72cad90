package io.eventbus.server.call;

import io.eventbus.server.call.dispatch.CandidateMember;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Members and peers that have refused one call. Confined to the loop of its caller. */
final class CallRefusals {
  /** Members that may refuse a call before its caller gets the refusal, in addition to the last. */
  static final int MAX_OTHERS = 3;

  /** Peers that may send a call back because no place or no member is there. */
  private static final int MAX_SENT_BACK = 32;

  /** The same for a call for one member only: all buses may have to be asked. */
  private static final int MAX_PINNED_SENT_BACK = 4_096;

  private @Nullable ServiceMember[] all = new ServiceMember[MAX_OTHERS];
  private int size;
  private int sentBack;

  /** Adds a member's refusal; returns false if there were too many. */
  boolean refused(ServiceMember by) {
    if (size - sentBack >= MAX_OTHERS) {
      return false;
    }
    add(by);
    return true;
  }

  /** Adds a peer without a place or member; returns false if there were too many. */
  boolean sentBack(ServiceMember by, boolean pinned) {
    if (sentBack >= (pinned ? MAX_PINNED_SENT_BACK : MAX_SENT_BACK)) {
      return false;
    }
    sentBack++;
    add(by);
    return true;
  }

  private void add(ServiceMember by) {
    if (size == all.length) {
      all = Arrays.copyOf(all, 2 * size);
    }
    all[size++] = by;
  }

  boolean isAnySentBack() {
    return sentBack > 0;
  }

  boolean has(CandidateMember member) {
    for (int i = 0; i < size; i++) {
      if (all[i] == member) {
        return true;
      }
    }
    return false;
  }

  void clear() {
    Arrays.fill(all, 0, size, null);
    size = 0;
    sentBack = 0;
  }
}
