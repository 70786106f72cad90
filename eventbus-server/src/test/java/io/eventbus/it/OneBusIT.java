package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.schema.Welcome;
import io.eventbus.server.BusServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Behaviour of one bus with well-behaved clients, seen on the wire. */
class OneBusIT {
  private BusServer bus;

  @BeforeEach
  void start() throws Exception {
    bus = TestBus.start();
  }

  @AfterEach
  void stop() {
    bus.close();
  }

  @Test
  void anEventReachesItsSubscriberWithProducerAndSequence() throws Exception {
    try (RawClient subscriber = RawClient.connected(bus.uri());
        RawClient publisher = RawClient.upgraded(bus.uri())) {
      subscriber.subscribe(1, "weather.*.now");
      Welcome welcome = publisher.hello(null);
      publisher.send(RawClient.publish("weather.oslo.now", 1, true, "cold", "colder"));
      RawClient.Delivered d = subscriber.expectDeliver();
      assertThat(d.topic()).isEqualTo("weather.oslo.now");
      assertThat(d.producer()).isEqualTo(welcome.getProducer());
      assertThat(d.sequence()).isEqualTo(1);
      assertThat(d.payloads()).containsExactly("cold", "colder");
      assertThat(d.groups()).isEmpty();
      Confirm confirm = publisher.expectConfirm();
      assertThat(confirm.getTypeCode()).isEqualTo(TypeCode.PUBLISH.code());
      assertThat(confirm.getAbout()).isEqualTo(2);
      assertThat(confirm.getTopic()).isEqualTo("weather.oslo.now");
    }
  }

  @Test
  void overlappingSubscriptionsGetAnEventOnce() throws Exception {
    try (RawClient client = RawClient.connected(bus.uri())) {
      client.subscribe(1, "a.b");
      client.subscribe(2, "a.*");
      client.subscribe(3, ">");
      client.send(RawClient.publish("a.b", 1, false, "x"));
      assertThat(client.expectDeliver().payloads()).containsExactly("x");
      client.send(ControlFrames.encode(TypeCode.BARRIER, new Barrier(7L)));
      client.expect(TypeCode.BARRIER);
    }
  }

  @Test
  void aGroupSharesAndNamesItsSubscription() throws Exception {
    try (RawClient one = RawClient.connected(bus.uri());
        RawClient two = RawClient.connected(bus.uri());
        RawClient publisher = RawClient.connected(bus.uri())) {
      one.subscribe(11, "jobs.>", "workers", Overflow.BLOCK);
      two.subscribe(22, "jobs.*", "workers", Overflow.BLOCK);
      // Also on its own account: still one delivery for each event.
      two.subscribe(23, "jobs.a");
      for (int i = 1; i <= 10; i++) {
        publisher.send(RawClient.publish("jobs.a", i, true, "job " + i));
        publisher.expectConfirm();
      }
      one.send(ControlFrames.encode(TypeCode.BARRIER, new Barrier(1L)));
      List<Long> first = new ArrayList<>();
      for (RawClient.BusFrame f = one.read();
          f != null && f.typeCode() == TypeCode.DELIVER.code();
          f = one.read()) {
        assertThat(RawClient.delivered(f).groups()).containsExactly(11L);
        first.add(RawClient.delivered(f).sequence());
      }
      List<Long> second = new ArrayList<>();
      for (int i = 1; i <= 10; i++) {
        RawClient.Delivered d = two.expectDeliver();
        assertThat(d.sequence()).isEqualTo(i);
        if (!d.groups().isEmpty()) {
          assertThat(d.groups()).containsExactly(22L);
          second.add(d.sequence());
        }
      }
      assertThat(first).hasSize(5).doesNotContainAnyElementsOf(second);
      assertThat(second).hasSize(5);
    }
  }

  @Test
  void noEventComesAfterDrained() throws Exception {
    try (RawClient subscriber = RawClient.connected(bus.uri());
        RawClient publisher = RawClient.connected(bus.uri())) {
      subscriber.subscribe(1, "t");
      publisher.send(RawClient.publish("t", 1, true, "before"));
      publisher.expectConfirm();
      subscriber.send(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
      // The event may still be on its way from the publisher's loop when the confirmation leaves.
      List<Integer> before = new ArrayList<>();
      for (int type = -1; type != TypeCode.DRAINED.code(); before.add(type)) {
        type = Objects.requireNonNull(subscriber.read()).typeCode();
      }
      assertThat(before)
          .containsExactlyInAnyOrder(
              TypeCode.DELIVER.code(), TypeCode.CONFIRM.code(), TypeCode.DRAINED.code());
      publisher.send(RawClient.publish("t", 2, true, "after"));
      publisher.expectConfirm();
      subscriber.send(ControlFrames.encode(TypeCode.BARRIER, new Barrier(1L)));
      subscriber.expect(TypeCode.BARRIER);
    }
  }

  @Test
  void aResumeKeepsTheProducerAndReplacesTheOldConnection() throws Exception {
    try (RawClient old = RawClient.upgraded(bus.uri());
        RawClient young = RawClient.upgraded(bus.uri())) {
      Welcome first = old.hello(null);
      Welcome second = young.hello(first.getResume());
      assertThat(second.getProducer()).isEqualTo(first.getProducer()).isPositive();
      assertThat(second.getResume()).isEqualTo(first.getResume());
      assertThat(second.getSession()).isNotEqualTo(first.getSession());
      assertThat(old.awaitClose()).isEqualTo(4503);
    }
  }

  @Test
  void illegalFramesAreRefusedAndTheConnectionStays() throws Exception {
    try (RawClient client = RawClient.connected(bus.uri())) {
      client.send(RawClient.publish("a..b", 4, true, "x"));
      Problem problem = client.expectProblem();
      assertThat(problem.getCode()).isEqualTo(ErrorCode.ILLEGAL_TOPIC);
      assertThat(problem.getAbout()).isEqualTo(4);
      assertThat(problem.getTypeCode()).isEqualTo(1);
      assertThat(problem.getTopic()).isEqualTo("a..b");
      client.send(RawClient.publish("a.*", 1, true, "x"));
      assertThat(client.expectProblem().getCode()).isEqualTo(ErrorCode.ILLEGAL_TOPIC);
      client.send(RawClient.publish("$SYS.x", 1, true, "x"));
      assertThat(client.expectProblem().getCode()).isEqualTo(ErrorCode.ILLEGAL_TOPIC);
      client.send(new byte[] {100, 2, 0});
      assertThat(client.expectProblem().getCode()).isEqualTo(ErrorCode.UNKNOWN_TYPE);
      client.subscribe(1, "ok");
    }
  }

  @Test
  void aShutdownDeliversWhatIsQueuedAndClosesWith1001() throws Exception {
    try (RawClient subscriber = RawClient.connected(bus.uri());
        RawClient publisher = RawClient.connected(bus.uri())) {
      subscriber.subscribe(1, "t");
      byte[] big = new byte[500_000];
      for (int i = 1; i <= 10; i++) {
        publisher.send(RawClient.publish("t", i, true, big));
        publisher.expectConfirm();
      }
      Thread stopper = new Thread(bus::close, "stopper");
      stopper.start();
      for (int i = 1; i <= 10; i++) {
        assertThat(subscriber.expectDeliver().sequence()).isEqualTo(i);
      }
      assertThat(subscriber.awaitClose()).isEqualTo(1001);
      subscriber.socket().close();
      assertThat(publisher.awaitClose()).isEqualTo(1001);
      publisher.socket().close();
      stopper.join(10_000);
      assertThat(stopper.isAlive()).isFalse();
    }
  }
}
