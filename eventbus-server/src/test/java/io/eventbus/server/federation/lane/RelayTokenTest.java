package io.eventbus.server.federation.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.federation.TestBus;
import org.junit.jupiter.api.Test;

class RelayTokenTest {
  /** The loops count independently: an end on one loop must not wait for a turn of the other. */
  @Test
  void countsTheEndOnAnotherLoopAtOnce() {
    TestBus bus = new TestBus(2, TestBus.fanout(8));
    IncomingLane lane = bus.peer("b", 2).incoming(0, bus.loop(0));
    RelayToken token = new RelayToken(lane, 1, 2);
    lane.passedOn(token);
    token.done(bus.loop(1));
    token.add(1);
    token.done(bus.loop(1));
    assertThat(token.isDone()).isFalse();
    token.done(bus.loop(1));
    assertThat(token.isDone()).isTrue();
    bus.run();
    assertThat(token.isDone()).isTrue();
  }
}
