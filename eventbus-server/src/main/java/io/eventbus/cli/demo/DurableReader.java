package io.eventbus.cli.demo;

import io.eventbus.client.DurableBuilder;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import io.eventbus.client.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Reader of the demo's journal, with one connection after the other. For one thread. */
final class DurableReader {
  private final Kind kind;
  private final String name;
  private final String filter;
  private final DemoTally tally;
  private final DemoTally.Member member;
  private final DemoLog log;
  private @Nullable EventBusClient client;
  private @Nullable Leaving leaving;
  private LongSupplier position = () -> 0;

  /** Kind of a reader. */
  enum Kind {
    /** Subscription as of any topic, which gets what is published while it is connected. */
    LIVE,
    /** Durable subscription, from the first event. */
    DURABLE,
    /** Replay without a name, from the first event. */
    REPLAY
  }

  /** End of a consumer or subscription. */
  @FunctionalInterface
  private interface Leaving {
    void leave(Duration timeout) throws InterruptedException;
  }

  DurableReader(
      Kind kind, String name, String filter, List<Flight> flights, Predicate<Flight> wants) {
    this.kind = kind;
    this.name = name;
    this.filter = filter;
    this.tally = new DemoTally(flights, wants);
    this.member = tally.member();
    this.log = new DemoLog(flights.size());
  }

  /** Begins to read, or goes on. */
  void join(EventBusClient from, Duration timeout) throws InterruptedException {
    client = from;
    if (kind == Kind.LIVE) {
      Subscription subscription = from.subscribe(filter, this::accept);
      DemoClients.settle(subscription.ready(), name + " cannot subscribe", timeout);
      leaving = limit -> settle(subscription.unsubscribe(), limit);
    } else {
      DurableBuilder builder = kind == Kind.DURABLE ? from.durable(name) : from.replay();
      DurableSubscription consumer =
          builder
              .journal(DurableDemo.JOURNAL)
              .filter(filter)
              .from(Start.FIRST)
              .handler(this::accept);
      DemoClients.settle(consumer.ready(), name + " cannot consume", timeout);
      position = consumer::position;
      leaving = limit -> settle(consumer.unsubscribe(), limit);
    }
  }

  private void settle(CompletionStage<?> stage, Duration timeout) throws InterruptedException {
    DemoClients.settle(stage, name + " cannot leave", timeout);
  }

  /** Ends reading, and waits until the bus knows what is handled; does nothing after the end. */
  void leave(Duration timeout) throws InterruptedException {
    Leaving now = leaving;
    if (now != null) {
      now.leave(timeout);
      leaving = null;
      client = null;
    }
  }

  private void accept(ReceivedEvent event) {
    log.add(event);
    member.accept(event);
  }

  String name() {
    return name;
  }

  /** Returns its name with its kind, for people. */
  String title() {
    return name + ", " + kind.name().toLowerCase(Locale.ROOT);
  }

  String filter() {
    return filter;
  }

  /** Returns the name of the bus that it is connected to; empty for none. */
  String bus() {
    EventBusClient now = client;
    return now == null ? "" : now.connection().map(connection -> connection.bus()).orElse("");
  }

  /** Returns the position up to which it has handled everything; of a live one always 0. */
  long position() {
    return position.getAsLong();
  }

  DemoTally tally() {
    return tally;
  }

  DemoLog log() {
    return log;
  }
}
