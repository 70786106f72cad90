package io.eventbus.loadtest.faults.history;

import io.eventbus.loadtest.faults.history.Consumption.Delivery;
import io.eventbus.loadtest.faults.history.Consumption.Settlement;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Rules of what durable subscriptions got. */
final class ConsumptionRules {
  private final Consumption consumption;
  private final FinalLog log;
  private final Findings findings;

  private ConsumptionRules(Consumption consumption, FinalLog log, Findings findings) {
    this.consumption = consumption;
    this.log = log;
    this.findings = findings;
  }

  static void check(History history, FinalLog log, Findings findings) {
    for (Consumption consumption : history.consumptions()) {
      ConsumptionRules rules = new ConsumptionRules(consumption, log, findings);
      rules.order();
      rules.atLeastOnce();
      rules.settled();
      rules.oneAtATime(history);
    }
  }

  private void order() {
    Map<String, Long> last = new HashMap<>();
    for (Delivery delivery : consumption.delivered()) {
      long position = delivery.seen().position();
      @Nullable Long before = last.put(delivery.consumer(), position);
      if (before != null && before >= position) {
        findings.add(
            HistoryRule.READ_IN_ORDER, name() + delivery.seen() + ", after position " + before);
      }
    }
  }

  private void atLeastOnce() {
    Set<Long> delivered = new HashSet<>();
    consumption.delivered().forEach(delivery -> delivered.add(delivery.seen().position()));
    for (long position : log.positions()) {
      EventName event = log.event(position);
      if (position >= consumption.from()
          && consumption.topics().contains(event.topic())
          && !delivered.contains(position)
          && !Reading.isCut(consumption.cuts(), position)) {
        findings.add(
            HistoryRule.DELIVERED_AT_LEAST_ONCE,
            name() + event + " at position " + position + " was never delivered");
      }
    }
  }

  private List<Delivery> byTime() {
    return consumption.delivered().stream()
        .sorted(Comparator.comparingLong(delivery -> delivery.seen().at()))
        .toList();
  }

  /**
   * Finds a consumer that gets an event though another one is active. Only an event tells that
   * which was published when the other had got one: earlier ones may wait in a client for long.
   */
  private void oneAtATime(History history) {
    Map<EventName, Long> published = history.published();
    ConsumerLosses losses = new ConsumerLosses(consumption.losses(), history.faults());
    @Nullable Delivery active = null;
    for (Delivery next : byTime()) {
      long sent = published.getOrDefault(next.seen().event(), 0L);
      if (active == null || active.client().equals(next.client())) {
        active = next;
      } else if (sent > active.seen().at()) {
        long since = published.getOrDefault(active.seen().event(), 0L);
        if (!losses.any(active.client(), active.bus(), since, next.seen().at())) {
          findings.add(
              HistoryRule.ONE_CONSUMER_AT_A_TIME,
              name() + next.seen() + ", when another one was active: " + active.seen());
        }
        active = next;
      }
    }
  }

  private void settled() {
    List<Delivery> delivered = byTime();
    List<Settlement> settlements =
        consumption.settlements().stream()
            .sorted(Comparator.comparingLong(Settlement::at))
            .toList();
    int next = 0;
    long upTo = 0;
    for (Delivery delivery : delivered) {
      while (next < settlements.size() && settlements.get(next).at() < delivery.seen().at()) {
        upTo = Math.max(upTo, settlements.get(next++).upTo());
      }
      if (delivery.seen().position() <= upTo) {
        findings.add(
            HistoryRule.SETTLED_NEVER_AGAIN,
            name() + delivery.seen() + ", when all up to " + upTo + " was told to be settled");
      }
    }
  }

  private String name() {
    return consumption.subscription() + ": ";
  }
}
