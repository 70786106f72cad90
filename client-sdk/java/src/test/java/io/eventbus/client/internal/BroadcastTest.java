package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventHandler;
import io.eventbus.client.Gap;
import io.eventbus.client.Overflow;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Drained;
import io.eventbus.schema.Register;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Broadcasts to services, against a bus without a network. */
@Timeout(180)
class BroadcastTest extends ClientFixture {

  private final BlockingQueue<String> told = new LinkedBlockingQueue<>();

  private final EventHandler handler =
      new EventHandler() {
        @Override
        public void onEvent(ReceivedEvent event) {
          told.add(event.topic() + " " + event.text());
        }

        @Override
        public void onGap(Gap gap) {
          told.add("gap " + gap.from() + ".." + gap.to());
        }
      };

  private String next() throws InterruptedException {
    return String.valueOf(told.poll(60, TimeUnit.SECONDS));
  }

  private Service serve(EventBusClient by, int concurrency) throws Exception {
    ServiceOptions options =
        ServiceOptions.DEFAULT.withConcurrency(concurrency).withOverflow(Overflow.CONFLATE);
    Service service =
        by.serve("room.1", options, i -> CompletableFuture.completedFuture(i.event()));
    service.onBroadcast(handler);
    get(service.ready());
    return service;
  }

  private void deliver(long sequence, String payload) {
    bus.connection().message(FakeBus.deliver("$SRV.room.1", 5, sequence, NO_GROUP, payload));
  }

  @Test
  void aMemberGetsWhatIsBroadcast() throws Exception {
    EventBusClient by = connect();
    Service service = serve(by, 0);
    Register register = (Register) bus.next(TypeCode.REGISTER).content();
    assertThat(register.getConcurrency()).isZero();
    assertThat(register.getOverflow()).isEqualTo(io.eventbus.schema.Overflow.CONFLATE);
    deliver(1, "a");
    assertThat(next()).isEqualTo("$SRV.room.1 a");
    deliver(4, "b");
    assertThat(next()).isEqualTo("gap 2..3");
    assertThat(next()).isEqualTo("$SRV.room.1 b");
    assertThatIllegalStateException().isThrownBy(() -> service.onBroadcast(handler));

    CompletableFuture<Boolean> closed = service.close(Duration.ofSeconds(5)).toCompletableFuture();
    bus.next(TypeCode.UNREGISTER);
    bus.connection().message(ControlFrames.encode(TypeCode.DRAINED, new Drained(register.getId())));
    assertThat(get(closed)).isTrue();
    deliver(5, "late");
    bus.awaitSent();
    assertThat(told).isEmpty();
  }

  @Test
  void aMemberThatHandlesNoneIsNotHeldUp() throws Exception {
    EventBusClient by = connect();
    Service service = by.serve("room.1", i -> CompletableFuture.completedFuture(i.event()));
    get(service.ready());
    deliver(1, "nobody hears it");
    service.onBroadcast(handler);
    deliver(2, "heard");
    assertThat(next()).isEqualTo("$SRV.room.1 heard");
  }

  @Test
  void reportsBroadcastsMissedWithoutAConnection() throws Exception {
    EventBusClient by = connect();
    serve(by, 1);
    deliver(1, "a");
    assertThat(next()).isEqualTo("$SRV.room.1 a");
    bus.awaitSent();
    bus.connection().end(1006, "");
    scheduler.advance(Duration.ofMillis(100));
    bus.next(TypeCode.REGISTER);
    bus.next(TypeCode.REGISTER);
    deliver(9, "b");
    assertThat(next()).isEqualTo("gap 2..8");
    assertThat(next()).isEqualTo("$SRV.room.1 b");
  }

  @Test
  void aBroadcastIsAPublishToTheServicesTopic() throws Exception {
    EventBusClient by = connect();
    get(by.broadcast("room.1", Event.of("hello")));
    FakeBus.Batch batch = bus.nextPublish();
    assertThat(batch.topic()).isEqualTo("$SRV.room.1");
    assertThat(batch.confirm()).isTrue();
    assertThatExceptionOfType(EventBusException.IllegalTopic.class)
        .isThrownBy(() -> by.publish("$SRV.room.1", Event.of("x")));
  }
}
