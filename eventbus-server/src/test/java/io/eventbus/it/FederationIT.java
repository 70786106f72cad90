package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.EventBusClient;
import io.eventbus.client.Published;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Unsubscribe;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Several buses that act as one, with the real SDK. Tests that change nothing of the cluster share
 * one.
 */
@Timeout(180)
class FederationIT {
  private static final int EVENTS = 1_000;
  private static final String SYNC_TIMEOUTS = "eventbus_federation_sync_timeouts_total";

  private static FederatedBuses shared;

  private final Path root;

  FederationIT(@TempDir Path root) {
    this.root = root;
  }

  @BeforeAll
  static void start(@TempDir Path root) throws Exception {
    shared = FederatedBuses.start(root, 3);
  }

  @AfterEach
  void closeClients() {
    shared.closeClients();
  }

  @AfterAll
  static void close() {
    shared.close();
  }

  /** Returns a sample of each bus. */
  private static double[] samples(String sample) {
    double[] all = new double[shared.size()];
    for (int i = 0; i < all.length; i++) {
      all[i] = shared.metric(shared.bus(i), sample);
    }
    return all;
  }

  static void get(CompletionStage<?> stage) throws Exception {
    stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  /** Publishes events, each with a number, and waits until the bus has taken them. */
  static void publish(EventBusClient client, int events, String... topics) throws Exception {
    List<CompletionStage<Published>> taken = new ArrayList<>();
    for (int i = 0; i < events; i++) {
      for (String topic : topics) {
        taken.add(client.publish(topic, Integer.toString(i)));
      }
    }
    for (CompletionStage<Published> each : taken) {
      get(each);
    }
  }

  @Test
  void publishedAnywhereReceivedEverywhere() throws Exception {
    String sent = "eventbus_federation_sent_events_total";
    double[] before = samples(sent);
    List<Receipts> all = new ArrayList<>();
    List<Receipts> one = new ArrayList<>();
    for (int i = 0; i < shared.size(); i++) {
      all.add(Receipts.of(shared.client(i), "t.>"));
      one.add(Receipts.of(shared.client(i), "t.1.x"));
    }
    List<Thread> publishers = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int i = 0; i < 2 * shared.size(); i++) {
      EventBusClient client = shared.client(i % shared.size());
      Thread publisher =
          new Thread(
              () -> {
                try {
                  publish(client, EVENTS, "t.1.x", "t.2.x", "t.3", "elsewhere");
                } catch (Exception e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                }
              });
      publisher.start();
      publishers.add(publisher);
    }
    for (Thread publisher : publishers) {
      publisher.join(60_000);
    }
    assertThat(failures).isEmpty();
    for (int i = 0; i < shared.size(); i++) {
      all.get(i).await(6L * 3 * EVENTS);
      one.get(i).await(6L * EVENTS);
      assertThat(all.get(i).duplicates()).isZero();
    }
    for (int i = 0; i < shared.size(); i++) {
      // Two publishers here, two other buses, three topics that they want.
      assertThat(shared.metric(shared.bus(i), sent) - before[i]).isEqualTo(2.0 * 2 * 3 * EVENTS);
      assertThat(
              shared.metric(
                  shared.bus(i), "eventbus_federation_lost_events_total{reason=\"given_up\"}"))
          .isZero();
      shared.awaitMetric(shared.bus(i), "eventbus_federation_queue_bytes", 0);
    }
  }

  @Test
  void aConfirmedSubscriptionGetsEverythingThatIsPublishedAfterwards() throws Exception {
    double[] late = samples(SYNC_TIMEOUTS);
    EventBusClient publisher = shared.client(1);
    EventBusClient subscriber = shared.client(0);
    for (int i = 0; i < 200; i++) {
      String topic = "confirm.c" + i;
      Receipts receipts = Receipts.of(subscriber, i % 2 == 0 ? topic : "*.c" + i);
      get(publisher.publish(topic, "x"));
      receipts.await(1);
      if (i % 3 == 0) {
        get(receipts.subscription().unsubscribe());
      }
    }
    assertThat(samples(SYNC_TIMEOUTS)).isEqualTo(late);
  }

  @Test
  void aGroupHasOneReceiverInTheWholeCluster() throws Exception {
    SubscribeOptions group = SubscribeOptions.DEFAULT.withGroup("g");
    Receipts b = Receipts.of(shared.client(1), "g.*", group);
    Receipts c = Receipts.of(shared.client(2), "g.*", group);
    Receipts plain = Receipts.of(shared.client(2), "g.>");
    EventBusClient both = shared.client(1);
    Receipts bothPlain = Receipts.of(both, "g.t");
    Receipts otherGroup = Receipts.of(both, "g.t", SubscribeOptions.DEFAULT.withGroup("h"));
    // A frame for each, so that they take turns.
    EventBusClient publisher = shared.client(0);
    for (int i = 0; i < 1_000; i++) {
      get(publisher.publish("g.t", "x"));
    }
    plain.await(1_000);
    bothPlain.await(1_000);
    otherGroup.await(1_000);
    WatchedBus.await(() -> b.count() + c.count() >= 1_000, () -> b.count() + " and " + c.count());
    assertThat(b.count() + c.count()).isEqualTo(1_000);
    assertThat(b.count()).isEqualTo(500);
    assertThat(b.misplaced() + c.misplaced()).isZero();
    Receipts a = Receipts.of(shared.client(0), "g.*", group);
    publish(publisher, 500, "g.t");
    a.await(500);
    plain.await(1_500);
    assertThat(b.count() + c.count())
        .as("a member at the publisher's bus comes first")
        .isEqualTo(1_000);
  }

  @ParameterizedTest
  @CsvSource({"1,4", "2,5"})
  void chainsAndTrees(int fanout, int count) throws Exception {
    try (FederatedBuses buses =
        FederatedBuses.start(root, count, "federation.fanout", Integer.toString(fanout))) {
      List<Receipts> receipts = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        receipts.add(Receipts.of(buses.client(i), "tree.>"));
      }
      List<EventBusClient> publishers = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        publishers.add(buses.client(i));
      }
      for (int round = 0; round < 5; round++) {
        for (EventBusClient publisher : publishers) {
          publish(publisher, 100, "tree.a", "tree.b");
        }
        // The targets change, and with them the ways.
        Receipts.of(buses.client(round % count), "tree.a");
      }
      for (Receipts each : receipts) {
        each.await(5L * count * 2 * 100);
        assertThat(each.duplicates()).isZero();
      }
      double relayed = 0;
      double far = 0;
      for (int i = 0; i < count; i++) {
        relayed += buses.metric(buses.bus(i), "eventbus_federation_relayed_events_total");
        far += buses.metric(buses.bus(i), "eventbus_federation_received_frames_total{hops=\"2\"}");
        buses.awaitMetric(buses.bus(i), "eventbus_federation_queue_bytes", 0);
      }
      assertThat(relayed).isPositive();
      assertThat(far).isPositive();
    }
  }

  @Test
  void aLaneThatIsCutLosesNothing() throws Exception {
    try (CuttableProxy way = new CuttableProxy();
        FederatedBuses buses = new FederatedBuses(root)) {
      buses.add();
      way.to(buses.add("cluster.advertised", "127.0.0.1:" + way.port()).linkPort());
      buses.awaitLanes();
      Receipts there = Receipts.of(buses.client(1), "cut.>");
      Receipts back = Receipts.of(buses.client(0), "cut.>");
      EventBusClient a = buses.client(0);
      EventBusClient b = buses.client(1);
      long sent = 0;
      for (int round = 0; round < 5; round++) {
        List<CompletionStage<Published>> taken = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
          if (i == 350) {
            way.cut();
          } else if (i == 750) {
            way.heal();
          }
          taken.add(a.publish("cut.a", "x"));
          taken.add(b.publish("cut.b", "x"));
          sent += 2;
        }
        for (CompletionStage<Published> each : taken) {
          get(each);
        }
        there.await(sent);
        back.await(sent);
      }
      assertThat(buses.metric(buses.bus(0), "eventbus_federation_connects_total")).isGreaterThan(2);
      assertThat(
              buses.metric(
                  buses.bus(0), "eventbus_federation_lost_events_total{reason=\"given_up\"}"))
          .isZero();
    }
  }

  @Test
  @Tag("nightly")
  void aPartitionIsCountedAndHeals() throws Exception {
    try (CuttableProxy toHere = new CuttableProxy();
        CuttableProxy way = new CuttableProxy();
        FederatedBuses buses = new FederatedBuses(root)) {
      for (CuttableProxy to : List.of(toHere, way)) {
        String address = "127.0.0.1:" + to.port();
        to.to(buses.add("cluster.advertised", address, "federation.peer-timeout", "4s").linkPort());
      }
      buses.awaitLanes();
      Receipts there = Receipts.of(buses.client(1), "part.>");
      Receipts here = Receipts.of(buses.client(0), "part.>");
      EventBusClient a = buses.client(0);
      publish(a, 10, "part.a");
      there.await(10);
      buses.awaitMetric(buses.bus(0), "eventbus_federation_queue_bytes", 0);
      way.cut();
      toHere.cut();
      publish(a, 10, "part.a");
      here.await(20);
      String lost = "eventbus_federation_lost_events_total{reason=\"given_up\"}";
      buses.awaitMetric(buses.bus(0), lost, 10);
      // Each side goes on, and nothing waits for the other any more.
      publish(a, 10, "part.a");
      here.await(30);
      // A single way is open again: confirmed events are kept for the other bus until it can be
      // reached.
      toHere.heal();
      buses.awaitLanes(buses.bus(1), 2);
      Receipts again = Receipts.of(buses.client(1), "again.>");
      assertThat(buses.metric(buses.bus(1), SYNC_TIMEOUTS)).isZero();
      publish(a, 10, "again.a");
      way.heal();
      again.await(10);
      buses.awaitLanes();
      // Both know again what the other wants, without a word from a client.
      WatchedBus.await(
          () -> {
            try {
              publish(a, 1, "part.b");
            } catch (Exception e) {
              throw new AssertionError(e);
            }
            return there.count() > 10;
          },
          () -> there.count() + " events after the cut");
      assertThat(there.subscription().counters().duplicates()).isZero();
    }
  }

  @Test
  void aBusThatIsKilledTakesNothingOfOthersWithIt() throws Exception {
    killOne("1");
  }

  @Test
  @Tag("nightly")
  void aBusThatIsKilledTakesNothingOfOthersWithItWhereAllAreNeighbours() throws Exception {
    killOne("8");
  }

  private void killOne(String fanout) throws Exception {
    try (FederatedBuses buses =
        FederatedBuses.start(
            root, 2, "federation.fanout", fanout, "federation.peer-timeout", "4s")) {
      BusProcess third =
          BusProcess.start(
              TestBus.member(
                  root,
                  "bus-z",
                  "listen.port",
                  "0",
                  "cluster.join",
                  "127.0.0.1:" + buses.bus(0).linkPort(),
                  "federation.fanout",
                  fanout));
      try {
        for (int i = 0; i < 2; i++) {
          buses.awaitLanes(buses.bus(i), 4);
        }
        Receipts other = Receipts.of(buses.client(1), "kill.>");
        Receipts killed = Receipts.of(buses.client(third.uri()), "kill.>");
        EventBusClient a = buses.client(0);
        // With a fanout of 1 a part of them goes through the one bus, the rest through the other.
        String[] topics = {"kill.0", "kill.1", "kill.2", "kill.3", "kill.4", "kill.5", "kill.6"};
        publish(a, 200, topics);
        other.await(7 * 200);
        killed.await(7 * 200);
        List<CompletionStage<Published>> taken = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
          if (i == 200) {
            third.kill();
          }
          for (String topic : topics) {
            taken.add(a.publish(topic, "x"));
          }
        }
        for (CompletionStage<Published> each : taken) {
          get(each);
        }
        other.await(7 * 800);
        // Promises wait for it no longer than they may.
        Receipts late = Receipts.of(buses.client(1), "kill.b");
        publish(a, 1, "kill.b");
        late.await(1);
      } finally {
        third.kill();
      }
    }
  }

  @Test
  void aBusThatStopsIsNotWaitedForWhateverTheRegistrySays() throws Exception {
    // The bus does not tell the registry that it stops.
    try (FederatedBuses buses = FederatedBuses.start(root, 2, "cluster.leave", "0s");
        RawClient client = RawClient.connected(buses.bus(0).uri())) {
      Receipts there = Receipts.of(buses.client(1), "bye.>");
      get(buses.client(0).publish("bye.t", "x"));
      there.await(1);
      buses.bus(1).close();
      client.subscribe(1, "bye.new");
      for (int i = 0; i < 10; i++) {
        client.send(RawClient.publish("bye.t", i + 1, false, "x"));
      }
      client.send(TestFrames.barrier(7));
      assertThat(client.expect(TypeCode.BARRIER).typeCode()).isEqualTo(TypeCode.BARRIER.code());
      assertThat(buses.metric(buses.bus(0), SYNC_TIMEOUTS)).isZero();
      assertThat(
              buses.metric(
                  buses.bus(0), "eventbus_federation_lost_events_total{reason=\"given_up\"}"))
          .isZero();
      assertThat(buses.metric(buses.bus(0), "eventbus_federation_queue_bytes")).isZero();
    }
  }

  @Test
  void barrierAndDrainedSpanTheCluster() throws Exception {
    double[] late = samples(SYNC_TIMEOUTS);
    try (RawClient subscriber = RawClient.connected(shared.bus(1).uri());
        RawClient publisher = RawClient.connected(shared.bus(0).uri())) {
      subscriber.subscribe(1, "raw.*");
      for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 100; i++) {
          publisher.send(RawClient.publish("raw.t", round * 100 + i + 1, false, "x"));
        }
        publisher.send(TestFrames.barrier(round));
        assertThat(publisher.expect(TypeCode.BARRIER).typeCode()).isEqualTo(11);
        // All of it is in the subscriber's queue by now: a Barrier of its own comes behind it.
        subscriber.send(TestFrames.barrier(round));
        int events = 0;
        for (RawClient.BusFrame frame = subscriber.read();
            frame != null && frame.typeCode() != TypeCode.BARRIER.code();
            frame = subscriber.read()) {
          events += RawClient.delivered(frame).payloads().size();
        }
        assertThat(events).isEqualTo(100);
      }
      for (int i = 0; i < 500; i++) {
        publisher.send(RawClient.publish("raw.u", i + 1, false, "x"));
      }
      publisher.send(TestFrames.barrier(99));
      assertThat(publisher.expect(TypeCode.BARRIER).typeCode()).isEqualTo(11);
      subscriber.send(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
      int events = 0;
      boolean drained = false;
      while (!drained) {
        RawClient.BusFrame frame = subscriber.read();
        assertThat(frame).isNotNull();
        drained = frame.typeCode() == TypeCode.DRAINED.code();
        if (frame.typeCode() == TypeCode.DELIVER.code()) {
          events += RawClient.delivered(frame).payloads().size();
        }
      }
      assertThat(events).isEqualTo(500);
      assertThat(samples(SYNC_TIMEOUTS)).isEqualTo(late);
    }
  }
}
