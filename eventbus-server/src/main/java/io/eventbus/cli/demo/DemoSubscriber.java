package io.eventbus.cli.demo;

import io.eventbus.client.EventBusClient;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.client.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Subscriber of the demo: one connection, or one for each member of a group. */
final class DemoSubscriber {
  private final String name;
  private final String filter;
  private final @Nullable String group;
  private final DemoTally tally;
  private final DemoLatency latency;
  private final List<Subscription> subscriptions = new ArrayList<>();
  private final List<AtomicLong> shares = new ArrayList<>();

  DemoSubscriber(
      String name, String filter, @Nullable String group, DemoTally tally, DemoLatency latency) {
    this.name = name;
    this.filter = filter;
    this.group = group;
    this.tally = tally;
    this.latency = latency;
  }

  /** Subscribes with a further connection, and waits until the bus has confirmed it. */
  void join(EventBusClient client, Duration timeout) throws InterruptedException {
    join(client, event -> {}, timeout);
  }

  /** Subscribes with a listener that gets each event of this connection as well. */
  void join(EventBusClient client, Consumer<ReceivedEvent> besides, Duration timeout)
      throws InterruptedException {
    DemoTally.Member member = tally.member();
    AtomicLong share = new AtomicLong();
    shares.add(share);
    Subscription subscription =
        client.subscribe(
            filter,
            SubscribeOptions.DEFAULT.withGroup(group),
            event -> {
              besides.accept(event);
              accept(member, share, event);
            });
    subscriptions.add(subscription);
    DemoClients.settle(subscription.ready(), "subscriber " + name + " cannot subscribe", timeout);
  }

  /** Unsubscribes, and waits until the last event has been handled. */
  void leave(Duration timeout) throws InterruptedException {
    for (Subscription subscription : subscriptions) {
      DemoClients.settle(
          subscription.unsubscribe(), "subscriber " + name + " cannot unsubscribe", timeout);
    }
  }

  String name() {
    return name;
  }

  String filter() {
    return filter;
  }

  DemoTally tally() {
    return tally;
  }

  /** Returns the events of each member, for example "130 + 120 + 125"; empty without a group. */
  String shares() {
    return group == null
        ? ""
        : String.join(" + ", shares.stream().map(s -> "%,d".formatted(s.get())).toList());
  }

  private void accept(DemoTally.Member member, AtomicLong share, ReceivedEvent event) {
    latency.record(event);
    share.incrementAndGet();
    member.accept(event);
  }
}
