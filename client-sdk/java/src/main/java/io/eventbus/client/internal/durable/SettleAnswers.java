package io.eventbus.client.internal.durable;

import io.eventbus.client.EventBusException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Settlements over one connection whose answer the application waits for. Guarded by the lock of
 * its {@link WorkerFeeds}.
 *
 * <p>A refusal does not say which settlement it is for. But each has one answer: when as many are
 * refused as have no other answer, those are the refused ones. Until then no others are sent.
 */
final class SettleAnswers {
  /** Maximum number of settlements that are sent and not answered; a bus allows 256. */
  static final int MAX_SENT = 128;

  private final Deque<Confirmed> waiting = new ArrayDeque<>();
  private final Map<Long, Confirmed> sent = new LinkedHashMap<>();
  private final List<EventBusException> refusals = new ArrayList<>();

  /** Settlement of one event, and the stage of its answer. */
  record Confirmed(SettledRange range, CompletableFuture<Void> stage) {}

  /** Refused settlement. */
  record Refused(CompletableFuture<Void> stage, EventBusException failure) {}

  void add(Confirmed settlement) {
    waiting.add(settlement);
  }

  /** Takes the next settlement that may be sent now; null if there is none. */
  @Nullable Confirmed next() {
    Confirmed first = waiting.peek();
    if (first == null
        || !refusals.isEmpty()
        || sent.size() == MAX_SENT
        || sent.containsKey(first.range.to())) {
      return null;
    }
    waiting.remove();
    sent.put(first.range.to(), first);
    return first;
  }

  /** Takes the settlement of a position, which is stored; null if there is none. */
  @Nullable Confirmed confirmed(long position) {
    return sent.remove(position);
  }

  /** Notes a refusal; returns false if no settlement waits for an answer. */
  boolean refuse(EventBusException failure) {
    if (sent.isEmpty()) {
      return false;
    }
    refusals.add(failure);
    return true;
  }

  /** Takes the settlements that are refused, as soon as it is known which. */
  List<Refused> refused() {
    List<Refused> refused = new ArrayList<>();
    if (sent.size() <= refusals.size()) {
      int i = 0;
      for (Confirmed each : sent.values()) {
        refused.add(new Refused(each.stage, refusals.get(i++)));
      }
      sent.clear();
      refusals.clear();
    }
    return refused;
  }

  /** Takes all of them: no answers come any more. */
  List<CompletableFuture<Void>> end() {
    List<CompletableFuture<Void>> all = new ArrayList<>();
    sent.values().forEach(each -> all.add(each.stage));
    waiting.forEach(each -> all.add(each.stage));
    sent.clear();
    waiting.clear();
    refusals.clear();
    return all;
  }
}
