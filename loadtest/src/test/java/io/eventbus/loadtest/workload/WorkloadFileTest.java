package io.eventbus.loadtest.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WorkloadFileTest {
  @Test
  void readsEveryKey() {
    List<Workload> read =
        WorkloadFile.parse(
            "x.yaml",
            """
            name: x
            description: all of it
            publishers: 2
            subscribers: 3
            topics: 4
            payloadBytes: 64
            rate: 1000
            messages: 500
            window: 16
            warmUp: 250ms
            duration: 2m
            runs: 7
            latencyEvery: 8
            filters: ["load.{subscriber}", "load.>"]
            slow: {subscribers: 1, perEvent: 20us, mayLose: true}
            idle: 9
            mayLose: [nats]
            cluster: {servers: 1, fanout: 2, subscribers: [0, 0]}
            takeTurns: true
            login: roles
            """);
    assertThat(read)
        .containsExactly(
            new Workload(
                "x",
                "all of it",
                2,
                3,
                4,
                64,
                1000,
                500,
                16,
                Duration.ofMillis(250),
                Duration.ofMinutes(2),
                7,
                8,
                List.of("load.{subscriber}", "load.>"),
                new Slowness(1, Duration.ofNanos(20_000), true),
                9,
                List.of("nats"),
                new Cluster(1, 2, List.of(0), List.of(0, 0)),
                true,
                Login.ROLES,
                0,
                null,
                null));
  }

  @Test
  void readsADurableTopic() {
    List<Workload> read =
        WorkloadFile.parse(
            "f.yaml",
            """
            name: f
            variants:
              - name: a
                durable: {operation: replay, inFlight: 7, events: 30, data: /disk}
              - name: b
                durable: {operation: tail}
                publishers: 2
            """);
    assertThat(read.get(0).durable())
        .isEqualTo(new DurableTopic(DurableTopic.Operation.REPLAY, 7, 30, "/disk"));
    assertThat(read.get(0).storing("/other").durable())
        .isEqualTo(new DurableTopic(DurableTopic.Operation.REPLAY, 7, 30, "/other"));
    assertThat(read.get(1).durable())
        .isEqualTo(
            new DurableTopic(
                DurableTopic.Operation.TAIL,
                4_096,
                1_000_000,
                System.getProperty("java.io.tmpdir")));
  }

  @Test
  void variantsTakeTheKeysOfTheFamilyAndTheirOwn() {
    List<Workload> read =
        WorkloadFile.parse(
            "f.yaml",
            """
            name: f
            payloadBytes: 128
            window: 10
            variants:
              - name: small
                payloadBytes: 16
              - name: smoke
            """);
    assertThat(read).extracting(Workload::name).containsExactly("f/small", "f/smoke");
    assertThat(read).extracting(Workload::payloadBytes).containsExactly(16, 128);
    assertThat(read).extracting(Workload::window).containsExactly(10, 10);
    assertThat(read).extracting(Workload::isSmoke).containsExactly(false, true);
    assertThat(read).extracting(Workload::family).containsExactly("f", "f");
  }

  @Test
  void everyVariantComesInEverySizeButTheShortOne() {
    List<Workload> read =
        WorkloadFile.parse(
            "f.yaml",
            """
            name: f
            sizes:
              - {name: s, payloadBytes: 64, window: 9}
              - {name: l, payloadBytes: 4096}
            variants:
              - {name: a, subscribers: 2, window: 3}
              - {name: smoke}
            """);
    assertThat(read).extracting(Workload::name).containsExactly("f/a-s", "f/a-l", "f/smoke");
    assertThat(read).extracting(Workload::payloadBytes).containsExactly(64, 4096, 128);
    assertThat(read).extracting(Workload::window).containsExactly(9, 3, 0);
    assertThat(read).extracting(Workload::subscribers).containsExactly(2, 2, 1);
  }

  @Test
  void clientsGoToTheServersOfTheirList() {
    Cluster cluster = new Cluster(4, 2, List.of(0), List.of(3, 1));
    assertThat(cluster.serverOfPublisher(5)).isEqualTo(0);
    assertThat(List.of(0, 1, 2).stream().map(cluster::serverOfSubscriber)).containsExactly(3, 1, 3);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "payloadBytes: 15|payloadBytes: 15 (expected: 16..1048576)",
        "publishers: 0|publishers: 0 (expected: 1..",
        "subscribers: -1|subscribers: -1 (expected: 1..",
        "topics: 2000000|topics: 2000000 (expected: 1..1000000)",
        "rate: -5|rate: -5 (expected: 0..",
        "window: -1|window: -1 (expected: 0..",
        "runs: 0|runs: 0 (expected: 1..",
        "latencyEvery: 0|latencyEvery: 0 (expected: 1..",
        "duration: 0s|duration: 0 (expected: > 0)",
        "duration: 10|duration: 10 (expected: a whole number with us, ms, s or m",
        "warmUp: 1h|warmUp: 1h (expected: a whole number with us, ms, s or m",
        "filters: [load.x>]|filters: load.x> (expected: tokens",
        "slow: {subscribers: 2}|slow.subscribers: 2 (expected: at most subscribers, 1)",
        "speed: 9|speed: unknown key (expected: one of calls, cluster, description, durable,",
        "slow: {sleep: 1ms}|slow.sleep: unknown key",
        "payloadBytes: many|payloadBytes: Cannot",
        "payloadBytes: 1.5|payloadBytes: Cannot coerce Floating",
        "payloadBytes: '''16'''|payloadBytes: Cannot",
        "name: x|Duplicate field 'name'",
        "variants: []|variants: none",
        "variants: [{window: 1}]|expected: a name",
        "cluster: {servers: 0}|cluster.servers: 0 (expected: 1..64)",
        "cluster: {servers: 2, subscribers: [2]}|cluster.subscribers: 2 (expected: 0..1)",
        "cluster: {publishers: []}|cluster.publishers: none",
        "cluster: {fanout: 0}|cluster.fanout: 0",
        "durable: {operation: store}|durable.operation: store (expected: publish, replay, tail or work)",
        "durable: {inFlight: 0}|durable.inFlight: 0 (expected: 1..",
        "durable: {events: 0}|durable.events: 0 (expected: 1..",
        "durable: {speed: 1}|durable.speed: unknown key",
      })
  void refusesWhatIsWrongAndSaysWhat(String line, String message) {
    assertThatThrownBy(() -> WorkloadFile.parse("w.yaml", "name: w\n" + line + "\n"))
        .isInstanceOf(WorkloadException.class)
        .hasMessageStartingWith("w.yaml: ")
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({"publishers: 2", "subscribers: 2", "topics: 2", "messages: 2", "rate: 2"})
  void aDurableTopicThatIsReadHasOnePublisher(String line) {
    assertThatThrownBy(() -> WorkloadFile.parse("w.yaml", "name: w\ndurable: {}\n" + line + "\n"))
        .isInstanceOf(WorkloadException.class)
        .hasMessageContaining("durable.operation: publish (expected: one publisher,");
  }

  @ParameterizedTest
  @ValueSource(strings = {"calls: 2", "idle: 2"})
  void aDurableTopicIsForEvents(String line) {
    assertThatThrownBy(() -> WorkloadFile.parse("w.yaml", "name: w\ndurable: {}\n" + line + "\n"))
        .isInstanceOf(WorkloadException.class)
        .hasMessageContaining("durable: there (expected: without calls, idle and");
  }

  @Test
  void refusesAFileWithoutAName() {
    assertThatThrownBy(() -> WorkloadFile.parse("w.yaml", "window: 1"))
        .isInstanceOf(WorkloadException.class)
        .hasMessageContaining("name: absent");
  }

  @Test
  void refusesTwoVariantsOfOneName() {
    assertThatThrownBy(
            () ->
                WorkloadFile.parse(
                    "w.yaml", "name: w\nvariants: [{name: a}, {name: a, window: 2}]"))
        .isInstanceOf(WorkloadException.class)
        .hasMessageContaining("a is there twice");
  }

  @Test
  void refusesMoreCountersThanMemory() {
    assertThatThrownBy(
            () ->
                WorkloadFile.parse(
                    "w.yaml", "name: w\npublishers: 1000\nsubscribers: 1000\ntopics: 1000"))
        .hasMessageContaining("publishers x topics x subscribers: 1000000000");
  }

  @Test
  void everyShippedFamilyHasASmokeVariantThatIsShort() {
    Workloads shipped = Workloads.shipped();
    List<String> families = shipped.all().stream().map(Workload::family).distinct().toList();
    assertThat(families).contains("one-to-one", "fan-out", "fan-in", "many-topics", "latency");
    assertThat(shipped.select("smoke")).extracting(Workload::family).containsAll(families);
    assertThat(shipped.select("smoke"))
        .allSatisfy(
            w ->
                assertThat(w.warmUp().plus(w.duration()))
                    .isLessThanOrEqualTo(Duration.ofSeconds(2)));
  }

  @Test
  void selectsByWord(@TempDir Path directory) throws Exception {
    Workloads shipped = Workloads.shipped();
    assertThat(shipped.select("one-to-one/16B"))
        .extracting(Workload::payloadBytes)
        .containsOnly(16);
    assertThat(shipped.select("one-to-one"))
        .extracting(Workload::payloadBytes)
        .containsExactly(16, 128, 1024, 16384);
    assertThat(shipped.select("all")).noneMatch(Workload::isSmoke);
    assertThat(shipped.select("one-*/16*"))
        .extracting(Workload::name)
        .containsExactly("one-to-one/16B", "one-to-one/16KiB");
    assertThat(shipped.select("federation-*")).noneMatch(Workload::isSmoke);
    Path file = directory.resolve("mine.yaml");
    Files.writeString(file, "name: mine\n");
    assertThat(shipped.select(file.toString())).extracting(Workload::name).containsExactly("mine");
    assertThatThrownBy(() -> shipped.select("nothing"))
        .isInstanceOf(WorkloadException.class)
        .hasMessageContaining("workload: nothing (expected: smoke, all, a file .yaml or one of");
  }
}
