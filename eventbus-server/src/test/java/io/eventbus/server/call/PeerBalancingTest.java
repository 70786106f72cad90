package io.eventbus.server.call;

import static io.eventbus.server.call.PeerFixture.MILLIS;
import static io.eventbus.server.call.PeerFixture.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.call.PeerFixture.Bus;
import io.eventbus.server.call.PeerFixture.Caller;
import io.eventbus.server.call.PeerFixture.Link;
import io.eventbus.server.call.PeerFixture.Server;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Distribution of calls between callers and members at different buses, in a simulation. */
class PeerBalancingTest {
  private final PeerFixture kit = new PeerFixture();
  private final List<Link> links = new ArrayList<>();
  private final List<Caller> callers = new ArrayList<>();
  private final List<Server> servers = new ArrayList<>();

  @AfterEach
  void assertNoLeaks() {
    callers.forEach(Caller::close);
    kit.advance(60 * SECOND);
    links.forEach(Link::close);
    servers.forEach(server -> server.client.close(Long.MAX_VALUE));
    kit.advance(SECOND);
    assertThat(kit.memory.used()).isZero();
  }

  private Link link(Bus from, Bus to) {
    Link link = from.serve(to);
    links.add(link);
    return link;
  }

  private Server server(Bus at, int concurrency, long nanos) {
    Server server = kit.new Server(at, concurrency, nanos);
    servers.add(server);
    return server;
  }

  private Caller caller(Bus at, int calls) {
    Caller caller = kit.new Caller(at, calls);
    callers.add(caller);
    return caller;
  }

  private long[] doneIn(long nanos) {
    long[] before = servers.stream().mapToLong(s -> s.done).toArray();
    kit.advance(nanos);
    long[] done = new long[before.length];
    for (int i = 0; i < done.length; i++) {
      done[i] = servers.get(i).done - before[i];
    }
    return done;
  }

  @Test
  void callsAreProportionalToSpeedAcrossBuses() {
    Bus asking = kit.bus();
    long[] times = {4 * MILLIS, 2 * MILLIS, MILLIS};
    for (long time : times) {
      Bus bus = kit.bus();
      server(bus, 1, time);
      link(asking, bus);
    }
    Caller caller = caller(asking, 64);
    kit.advance(2 * SECOND);
    long[] done = doneIn(10 * SECOND);
    double total = done[0] + done[1] + done[2];
    assertThat(total).as("of 17,500 calls").isGreaterThan(0.97 * 17_500);
    assertThat(done[0] / total).isBetween(0.97 / 7, 1.03 / 7);
    assertThat(done[1] / total).isBetween(0.97 * 2 / 7, 1.03 * 2 / 7);
    assertThat(done[2] / total).isBetween(0.97 * 4 / 7, 1.03 * 4 / 7);
    assertThat(caller.outcomes).containsOnlyKeys("reply");
  }

  @Test
  void fiftyBusesShareOneMember() {
    Bus serving = kit.bus();
    Server server = server(serving, 1, MILLIS);
    for (int i = 0; i < 50; i++) {
      Bus asking = kit.bus();
      link(asking, serving);
      // A flooding caller, and others with a few calls.
      caller(asking, i == 0 ? 500 : 2);
    }
    kit.advance(5 * SECOND);
    callers.forEach(caller -> caller.nanos.clear());
    long[] done = doneIn(20 * SECOND);
    assertThat(done[0]).isGreaterThan((long) (0.97 * 20_000));
    // Its window is its bound, whoever calls.
    assertThat(server.maximum).isLessThanOrEqualTo(3);
    for (int i = 0; i < callers.size(); i++) {
      assertThat(callers.get(i).nanos.size()).as("bus %s", i).isGreaterThan(200);
    }
    for (int i = 1; i < callers.size(); i++) {
      assertThat(callers.get(i).nanos.size()).isLessThan(800);
      assertThat(callers.get(i).nanos.stream().mapToLong(n -> n).max().orElse(0))
          .isLessThan(400 * MILLIS);
    }
  }

  @Test
  void aFloodThatEndsLeavesNothingOpen() {
    Bus serving = kit.bus();
    server(serving, 4, 2 * MILLIS);
    Bus asking = kit.bus();
    Link link = link(asking, serving);
    caller(asking, 200);
    kit.advance(2 * SECOND);
    // The places there, and a quarter.
    assertThat(link.asker.open()).isBetween(4, 12);
    callers.get(0).close();
    kit.advance(SECOND);
    assertThat(link.asker.open()).isZero();
    assertThat(link.asker.grant()).isPositive();
  }

  @Test
  void busyMembersHereSendTheRestToOtherBuses() {
    Bus here = kit.bus();
    Bus other = kit.bus();
    server(here, 4, 2 * MILLIS);
    server(other, 4, 2 * MILLIS);
    Link link = link(here, other);
    Caller few = caller(here, 4);
    kit.advance(5 * SECOND);
    assertThat(link.sent).as("all find a free place here").isZero();
    few.close();
    kit.advance(SECOND);
    caller(here, 32);
    kit.advance(2 * SECOND);
    long[] done = doneIn(5 * SECOND);
    assertThat(done[0] + done[1]).isGreaterThan((long) (0.95 * 20_000));
    assertThat(done[1]).isGreaterThan(9_000);
  }

  @Test
  void aSlowBusIsLeftToWhatItCanDo() {
    Bus asking = kit.bus();
    Bus fast = kit.bus();
    Bus slow = kit.bus();
    server(fast, 8, MILLIS);
    server(slow, 8, 100 * MILLIS);
    link(asking, fast);
    Link toSlow = link(asking, slow);
    caller(asking, 4);
    kit.advance(2 * SECOND);
    long[] done = doneIn(5 * SECOND);
    assertThat(done[1] / (double) (done[0] + done[1])).isLessThan(0.02);
    assertThat(toSlow.maxOpen).isLessThanOrEqualTo(8);
  }

  @Test
  void manyBusesThatAskAtOnceAreNoHerd() {
    Bus serving = kit.bus();
    Server server = server(serving, 4, MILLIS);
    List<Link> all = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      Bus asking = kit.bus();
      all.add(link(asking, serving));
      caller(asking, 20);
    }
    kit.advance(SECOND);
    int open = all.stream().mapToInt(link -> link.asker.open()).sum();
    assertThat(open).as("one for each, and about twice the places").isLessThan(100 + 3 * 10);
    assertThat(doneIn(5 * SECOND)[0]).isGreaterThan((long) (0.95 * 20_000));
    assertThat(server.maximum).isLessThanOrEqualTo(10);
  }

  @Test
  void failsWithoutMembersOnlyWhenNobodyIsLeft() {
    Bus asking = kit.bus();
    Bus one = kit.bus();
    Bus two = kit.bus();
    Server first = server(one, 4, MILLIS);
    server(two, 4, MILLIS);
    link(asking, one);
    Link second = link(asking, two);
    Caller caller = caller(asking, 8);
    kit.advance(SECOND);
    // Its bus still announces the service: calls to it come back.
    first.client.close(0);
    kit.advance(5 * SECOND);
    assertThat(caller.outcomes).containsOnlyKeys("reply");
    assertThat(second.sent).isGreaterThan(1_000);
  }
}
