package io.eventbus.server.call;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The members and buses that have not taken one call. Confined to the loop of its caller. */
final class CallRefusals {
  /** Members that may refuse a call before its caller hears of it, besides the last. */
  static final int OTHERS = 3;

  /** Other buses that may send a call back because it finds no place or no member there. */
  private static final int MAX_SENT_BACK = 32;

  /** The same of a call for one member only: all buses may have to be asked. */
  private static final int MAX_PINNED_SENT_BACK = 4_096;

  private @Nullable ServiceMember[] all = new ServiceMember[OTHERS];
  private int size;
  private int sentBack;

  /** A member has refused it; false if there were too many. */
  boolean refused(ServiceMember by) {
    if (size - sentBack >= OTHERS) {
      return false;
    }
    add(by);
    return true;
  }

  /** A bus had no place or no member for it; false if there were too many. */
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

  boolean has(ServiceMember member) {
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
