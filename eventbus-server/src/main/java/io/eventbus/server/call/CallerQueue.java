package io.eventbus.server.call;

import org.jspecify.annotations.Nullable;

/**
 * Calls of one fairness group that wait in one {@link FairCallQueue}, in order. Confined to the
 * loop.
 */
final class CallerQueue {
  @Nullable FairnessGroup group;
  // Neighbours in a ring of queues.
  CallerQueue next = this;
  CallerQueue previous = this;
  int size;
  // Start of the wait for its turn.
  long turnNanos;
  private @Nullable Call first;
  private @Nullable Call last;

  void add(Call call) {
    Call before = last;
    call.before = before;
    if (before == null) {
      first = call;
    } else {
      before.behind = call;
    }
    last = call;
    size++;
  }

  void addFirst(Call call) {
    Call after = first;
    call.behind = after;
    if (after == null) {
      last = call;
    } else {
      after.before = call;
    }
    first = call;
    size++;
  }

  void remove(Call call) {
    Call before = call.before;
    Call behind = call.behind;
    if (before == null) {
      first = behind;
    } else {
      before.behind = behind;
    }
    if (behind == null) {
      last = before;
    } else {
      behind.before = before;
    }
    call.before = null;
    call.behind = null;
    size--;
  }

  @Nullable Call first() {
    return first;
  }
}
