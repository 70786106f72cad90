package io.eventbus.client.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.base.Counters;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.client.internal.base.FakeClock;
import io.eventbus.client.internal.base.ManualScheduler;
import io.eventbus.client.internal.base.Notifier;
import io.eventbus.client.internal.call.CallTable;
import io.eventbus.client.internal.durable.DurableConsumers;
import io.eventbus.client.internal.inbound.Acks;
import io.eventbus.client.internal.inbound.Dispatcher;
import io.eventbus.client.internal.inbound.ReadGate;
import io.eventbus.client.internal.inbound.Subscriptions;
import io.eventbus.client.internal.outbound.Barriers;
import io.eventbus.client.internal.outbound.CallOutlet;
import io.eventbus.client.internal.outbound.EventEncoder;
import io.eventbus.client.internal.outbound.Outbox;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Welcome;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BusLinkTest {
  private final FakeClock clock = new FakeClock();
  private final FakeBus bus = new FakeBus();
  private final List<Boolean> receiving = new ArrayList<>();

  private final BusLink.Owner owner =
      new BusLink.Owner() {
        @Override
        public void welcomed(BusLink link, Welcome welcome) {
          // In the middle of a message, as a full inbound queue is.
          receiving.add(link.isReceiving());
          clock.advance(Duration.ofMinutes(5));
        }

        @Override
        public void ended(
            BusLink link, int code, String reason, @Nullable EventBusException failure) {}

        @Override
        public void changeBus(BusLink link, ChangeBus request) {}

        @Override
        public void renewed(BusLink link, long expiresAt) {}

        @Override
        public void notRenewed(BusLink link) {}
      };

  private BusLink link() {
    ClientOptions options = EventBusClient.builder().url("ws://one/bus").options();
    Notifier notifier = new Notifier(new ConnectionListener() {}, Runnable::run);
    Counters counters = new Counters();
    Outbox outbox = new Outbox(options.outbound(), clock);
    Subscriptions subscriptions = new Subscriptions(outbox::addControl, notifier, clock);
    Dispatcher dispatcher =
        new Dispatcher(
            subscriptions,
            new Acks(),
            counters,
            notifier,
            new ReadGate(),
            clock,
            options.trackedProducers());
    BusLink.Parts parts =
        new BusLink.Parts(
            outbox,
            subscriptions,
            dispatcher,
            new Barriers(outbox, notifier, new ManualScheduler(clock)),
            counters,
            notifier,
            calls(options, outbox, notifier),
            new DurableConsumers(
                subscriptions,
                notifier,
                counters,
                Runnable::run,
                new ManualScheduler(clock),
                clock));
    return new BusLink(
        URI.create("ws://one/bus"),
        new Hello("name", "agent", null, null, Map.of(), null, null, null),
        parts,
        owner,
        clock);
  }

  private CallTraffic calls(ClientOptions options, Outbox outbox, Notifier notifier) {
    EventEncoder encoder = new EventEncoder(clock, 1 << 20);
    CallOutlet outlet =
        new CallOutlet(
            outbox,
            encoder,
            notifier,
            bus.outside(new ManualScheduler(clock), clock),
            Runnable::run,
            options.outbound().batchBytes());
    return new CallTraffic(new CallTable(outlet, List.of(), 1 << 20), outlet, encoder);
  }

  @Test
  void aMessageCountsAsHeardWhenItIsDoneWith() {
    BusLink link = link();
    bus.connect(link.url, Duration.ofSeconds(10), link);
    assertThat(receiving).containsExactly(true);
    assertThat(link.isReceiving()).isFalse();
    assertThat(link.heardAt()).isEqualTo(clock.nanoTime());
  }

  @Test
  void aPausedConnectionCountsAsReceivingAndIsHeardWhenItGoesOn() {
    BusLink link = link();
    bus.connect(link.url, Duration.ofSeconds(10), link);
    link.pause();
    assertThat(bus.connection().isPaused()).isTrue();
    assertThat(link.isReceiving()).isTrue();
    clock.advance(Duration.ofMinutes(5));
    link.resume();
    assertThat(bus.connection().isPaused()).isFalse();
    assertThat(link.isReceiving()).isFalse();
    assertThat(link.heardAt()).isEqualTo(clock.nanoTime());
  }

  @Test
  void anAttemptIsCancelledWhenItIsGivenUp() {
    BusLink link = link();
    bus.silent = true;
    link.attempt(bus.connect(link.url, Duration.ofSeconds(10), link));
    assertThat(bus.cancelled).hasValue(0);
    link.abort();
    assertThat(bus.cancelled).hasValue(1);
  }
}
