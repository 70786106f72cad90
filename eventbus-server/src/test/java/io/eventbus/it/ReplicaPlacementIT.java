package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.CliHarness;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import io.eventbus.server.BusServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replicas of the journals that follow the buses of the cluster when they join, fail and leave. */
class ReplicaPlacementIT extends DurableBuses {
  /** Times that are short, so that a bus that is away is replaced soon. */
  private static final String[] SOON = {"cluster.lease", "2s", "durable.replace-after", "100ms"};

  ReplicaPlacementIT(@TempDir Path root) {
    super(root);
  }

  private BusServer joined(String name) throws Exception {
    return joined(name, new String[0]);
  }

  private BusServer joined(String name, String... settings) throws Exception {
    String[] all = new String[settings.length + 2];
    System.arraycopy(settings, 0, all, 2, settings.length);
    all[0] = "cluster.join";
    all[1] = joinOf(buses.toArray(new BusServer[0]));
    return startWithData(name, all);
  }

  /** Returns the buses that vote, as one bus knows it. */
  private Set<String> voters(BusServer bus) {
    Set<String> voters = new TreeSet<>();
    for (JsonNode member : members(bus)) {
      if (member.path("voter").asBoolean()) {
        voters.add(member.path("bus").asText());
      }
    }
    return voters;
  }

  private JsonNode members(BusServer bus) {
    try {
      return JSON.readTree(send(bus, "GET", "/api/v1/shards").body())
          .path("items")
          .path(0)
          .path("members");
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private Set<String> replicas(BusServer bus) {
    Set<String> all = new TreeSet<>();
    members(bus).forEach(member -> all.add(member.path("bus").asText()));
    return all;
  }

  private void awaitVoters(BusServer bus, Set<String> expected) {
    WatchedBus.await(
        () -> voters(bus).equals(expected),
        () -> "voters: " + members(bus) + " (expected: " + expected + ")");
  }

  private void awaitReplicas(BusServer bus, Set<String> expected) {
    WatchedBus.await(
        () -> replicas(bus).equals(expected),
        () -> "replicas: " + members(bus) + " (expected: " + expected + ")");
  }

  /** Reads all events from the replica of a bus. */
  private void expectAll(BusServer bus, long upTo) throws Exception {
    BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
    DurableSubscription unused =
        get(
            connect(bus)
                .replay()
                .filter("orders.>")
                .from(Start.FIRST)
                .handler(received::add)
                .ready());
    expect(received, 1, upTo);
  }

  @Test
  void aFurtherBusHasAllEventsAndGetsTheVoteOfABusThatIsKilled() throws Exception {
    BusServer a = startWithData("bus-a", SOON);
    BusServer b = joined("bus-b", SOON);
    BusProcess killed =
        BusProcess.start(
            TestBus.member(
                root,
                "bus-c",
                "durable.directory",
                data("bus-c").toString(),
                "cluster.lease",
                "2s",
                "balance.enabled",
                "false",
                "cluster.join",
                joinOf(a, b)));
    BusServer d;
    EventBusClient publisher;
    try {
      awaitUp(3);
      create(a, "orders");
      publisher = connect(b);
      publish(publisher, 1, 100);
      d = joined("bus-d", SOON);
      awaitUp(4);
      expectAll(d, 100);
      assertThat(voters(d)).containsExactly("bus-a", "bus-b", "bus-c");
      awaitReplicas(a, Set.of("bus-a", "bus-b", "bus-c", "bus-d"));
      publish(connect(d), 101, 150);
    } finally {
      killed.kill();
    }
    publish(publisher, 151, 200);
    awaitVoters(a, Set.of("bus-a", "bus-b", "bus-d"));
    // Now the vote counts: without that of bus-d there is no majority.
    a.close();
    buses.remove(a);
    publish(publisher, 201, 250);
    expectAll(d, 250);
  }

  @Test
  void aBusThatHasLostItsFilesComesBackAndVotesAgain() throws Exception {
    startThree();
    create(buses.get(0), "orders");
    publish(connect(buses.get(0)), 1, 100);
    BusServer c = buses.get(2);
    int port = c.linkPort();
    int generation = generation(buses.get(0), "bus-c");
    c.close();
    buses.remove(c);
    Files.move(data("bus-c"), data("lost"));
    publish(connect(buses.get(1)), 101, 150);
    BusServer again = startWithData("bus-c", "cluster.port", Integer.toString(port));
    awaitUp(3);
    expectAll(again, 150);
    WatchedBus.await(
        () ->
            voters(again).size() == 3
                && members(again).size() == 3
                && generation(again, "bus-c") != generation,
        () -> "members: " + members(again));
    BusServer b = buses.get(1);
    b.close();
    buses.remove(b);
    publish(connect(again), 151, 200);
  }

  private int generation(BusServer bus, String of) {
    int generation = 0;
    for (JsonNode member : members(bus)) {
      if (member.path("bus").asText().equals(of)) {
        generation = member.path("generation").asInt();
      }
    }
    return generation;
  }

  @Test
  void aBusAloneGrowsToThreeAndOneOfFourLeavesForGood() throws Exception {
    BusServer a = startWithData("bus-a");
    awaitUp(1);
    create(a, "orders");
    EventBusClient publisher = connect(a);
    publish(publisher, 1, 50);
    BusServer b = joined("bus-b");
    BusServer c = joined("bus-c");
    awaitUp(3);
    awaitVoters(b, Set.of("bus-a", "bus-b", "bus-c"));
    expectAll(c, 50);
    CliHarness cli = new CliHarness();
    assertThat(cli.run("drain", "--for-good", "bus-a", "--admin=127.0.0.1:" + b.adminPort()))
        .isEqualTo(5);
    assertThat(cli.err()).contains("without bus bus-a the journals have 2 replicas");
    BusServer d = joined("bus-d", "cluster.leave", "10s");
    awaitUp(4);
    awaitReplicas(b, Set.of("bus-a", "bus-b", "bus-c", "bus-d"));
    assertThat(eventbus(a, "journal", "replace", "bus-c"))
        .isEqualTo("Bus bus-c has no vote on the journals.\n");
    awaitVoters(b, Set.of("bus-a", "bus-b", "bus-d"));
    assertThat(eventbus(b, "journal", "replicas")).contains("bus-c", " follows ", " leads ");
    publish(publisher, 51, 100);
    assertThat(eventbus(b, "drain", "--for-good", "bus-d", "--wait=120s"))
        .isEqualTo(
            "Bus bus-d has no clients and no replica. Stop it: it leaves the cluster for good.\n");
    awaitVoters(b, Set.of("bus-a", "bus-b", "bus-c"));
    awaitReplicas(b, Set.of("bus-a", "bus-b", "bus-c"));
    d.close();
    buses.remove(d);
    assertThat(send(b, "GET", "/api/v1/registry/members").body()).doesNotContain("bus-d");
    publish(publisher, 101, 150);
    expectAll(c, 150);
  }

  /** Runs a command, and returns what it writes. */
  private static String eventbus(BusServer asked, String... words) {
    CliHarness cli = new CliHarness();
    List<String> all = new ArrayList<>(List.of(words));
    all.add("--admin=127.0.0.1:" + asked.adminPort());
    assertThat(cli.run(all.toArray(new String[0]))).as(cli.err()).isZero();
    return cli.out().replaceAll(" +", " ");
  }
}
