package io.eventbus.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RegistryValuesTest {

  @ParameterizedTest
  @ValueSource(strings = {"a", "7", "bus-1.east_2", "Z"})
  void takesNames(String name) {
    assertThat(new BusId(name)).hasToString(name);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-a", ".a", "a b", "a/b", "é", "a\n"})
  void refusesNames(String name) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new BusId(name))
        .withMessageStartingWith("busId: '")
        .withMessageContaining("(expected: ");
  }

  @Test
  void boundsNames() {
    assertThat(new BusId("x".repeat(64)).value()).hasSize(64);
    assertThatIllegalArgumentException().isThrownBy(() -> new BusId("x".repeat(65)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "flights.DFW.landed", "é.ü", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p"})
  void takesTopics(String topic) {
    assertThat(new TopicSpec(topic, Map.of()).name()).isEqualTo(topic);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "a.*",
        "a.>",
        "$SYS.a",
        "a b",
        "a\tb",
        "a\u00a0b",
        "a\u2028b",
        "a\u0000",
        "\ud800",
        "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q"
      })
  void refusesTopics(String topic) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new TopicSpec(topic, Map.of()))
        .withMessageStartingWith("topic: ");
  }

  @Test
  void boundsTopicsInBytes() {
    assertThat(new TopicSpec("é".repeat(127), Map.of()).name()).hasSize(127);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new TopicSpec("é".repeat(128), Map.of()))
        .withMessageContaining("1 to 255 bytes of UTF-8, not 256");
  }

  @Test
  void boundsSettings() {
    Map<String, String> many = new HashMap<>();
    for (int i = 0; i <= 32; i++) {
      many.put("s" + i, "");
    }
    assertThatIllegalArgumentException().isThrownBy(() -> new TopicSpec("t", many));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new TopicSpec("t", Map.of("s", "v".repeat(1_025))))
        .withMessageContaining("not 1025");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new TopicSpec("t", Map.of("s s", "v")))
        .withMessageStartingWith("setting: ");
  }

  @Test
  void copiesSettingsAndSortsThem() {
    Map<String, String> mine = new HashMap<>(Map.of("b", "2", "a", "1"));
    TopicSpec spec = new TopicSpec("t", mine);
    mine.clear();
    assertThat(spec.settings().keySet()).containsExactly("a", "b");
    assertThatThrownBy(() -> spec.settings().clear())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void copiesClientUrls() {
    List<String> mine = new ArrayList<>(List.of("ws://h:1/bus"));
    BusAddresses addresses = new BusAddresses(mine, null, null, null);
    mine.clear();
    assertThat(addresses.clients()).containsExactly("ws://h:1/bus");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "http://h:1/",
        "ws:/h",
        "ws://",
        "h:1",
        "ws://u:p@h:1/",
        "ws://h:1/\n",
        "ws://é:1/",
        "ws://h:1/%zz"
      })
  void refusesClientUrls(String url) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new BusAddresses(List.of(url), null, null, null))
        .withMessageStartingWith("clients: ");
  }

  @Test
  void boundsClientUrls() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new BusAddresses(List.of(), null, null, null));
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> new BusAddresses(Collections.nCopies(9, "ws://h:1/bus"), null, null, null));
  }

  @Test
  void writesEndpoints() {
    assertThat(new Endpoint("h.example", 1)).hasToString("h.example:1");
    assertThat(new Endpoint("::1", 65_535)).hasToString("[::1]:65535");
    for (int port : new int[] {0, -1, 65_536}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new Endpoint("h", port))
          .withMessage("port: " + port + " (expected: 1 to 65535)");
    }
    for (String host : List.of("", "a b", "a/b", "[::1]", "h".repeat(254))) {
      assertThatIllegalArgumentException().isThrownBy(() -> new Endpoint(host, 1));
    }
  }

  @Test
  void hostileTextIsShownHarmlessly() {
    assertThat(RegistryChecks.quote("a\u001b[2J'" + "x".repeat(100)))
        .isEqualTo("'a\\u001B[2J\\u0027" + "x".repeat(58) + "…'");
  }

  @Test
  void boundsGenerationsOfDataDirectories() {
    BusAddresses addresses = new BusAddresses(List.of("ws://h:1/bus"), null, null, null);
    assertThat(new BusDescription(new BusId("a"), addresses, "z", "1", 1, 0).storage()).isZero();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new BusDescription(new BusId("a"), addresses, "z", "1", 1, -1))
        .withMessage("storage: -1 (expected: 0 to 2147483647)");
  }

  private static ShardReplica replica(int number, boolean voter) {
    return new ShardReplica(new BusId("b" + number), 1, voter);
  }

  /** Returns that many replicas, in the wrong order. */
  private static List<ShardReplica> replicas(int voters, int all) {
    List<ShardReplica> replicas = new ArrayList<>();
    for (int i = all; i-- > 0; ) {
      replicas.add(replica(10 + i, i < voters));
    }
    return replicas;
  }

  @Test
  void sortsAndCopiesTheReplicasOfAShard() {
    List<ShardReplica> mine = new ArrayList<>(replicas(3, 4));
    ShardInfo shard = new ShardInfo(1, 7, mine);
    ShardCommand.Place place = new ShardCommand.Place(1, 7, mine);
    mine.clear();
    assertThat(shard.replicas())
        .containsExactly(
            replica(10, true), replica(11, true), replica(12, true), replica(13, false));
    assertThat(shard.voters()).containsExactlyElementsOf(shard.replicas().subList(0, 3));
    assertThat(place.replicas()).isEqualTo(shard.replicas());
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "3, 3", "5, 5", "1, 64", "5, 64"})
  void takesShards(int voters, int all) {
    assertThat(new ShardCommand.Place(3, 0, replicas(voters, all)).replicas()).hasSize(all);
    assertThat(new ShardInfo(3, 1, replicas(voters, all)).replicas()).hasSize(all);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1, 1, number: 0 (expected: 1 to 3)",
    "4, 1, 1, number: 4 (expected: 1 to 3)",
    "1, 0, 0, replicas.size: 0 (expected: 1 to 64)",
    "1, 1, 65, replicas.size: 65 (expected: 1 to 64)",
    "1, 0, 2, 'voters: 0 (expected: 1, 3 or 5)'",
    "1, 2, 2, 'voters: 2 (expected: 1, 3 or 5)'",
    "1, 4, 7, 'voters: 4 (expected: 1, 3 or 5)'",
    "1, 7, 7, 'voters: 7 (expected: 1, 3 or 5)'",
  })
  void refusesShards(int number, int voters, int all, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new ShardCommand.Place(number, 0, replicas(voters, all)))
        .withMessage(message);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new ShardInfo(number, 1, replicas(voters, all)))
        .withMessage(message);
  }

  @Test
  void aBusHoldsOneReplicaOfAShard() {
    List<ShardReplica> twice =
        List.of(replica(1, true), new ShardReplica(new BusId("b1"), 2, false));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new ShardCommand.Place(1, 0, twice))
        .withMessage("replicas: 'b1' (expected: at most one replica at each bus)");
    assertThatIllegalArgumentException().isThrownBy(() -> new ShardInfo(1, 1, twice));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new ShardReplica(new BusId("b1"), 0, true))
        .withMessage("generation: 0 (expected: 1 to 2147483647)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new ShardCommand.Place(1, -1, replicas(1, 1)));
    assertThatIllegalArgumentException().isThrownBy(() -> new ShardInfo(1, 0, replicas(1, 1)));
  }

  @Test
  void boundsLeases() {
    assertThat(new Lease(100, 5).isExpiredAt(4)).isFalse();
    assertThat(new Lease(100, 5).isExpiredAt(5)).isTrue();
    assertThatIllegalArgumentException().isThrownBy(() -> new Lease(99, 5));
    assertThatIllegalArgumentException().isThrownBy(() -> new Lease(86_400_001, 5));
  }

  @Test
  void nobodyMovesToJoining() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new BusCommand.ChangeState(new BusId("a"), 1, BusState.JOINING))
        .withMessage("next: JOINING (expected: UP, DRAINING or DOWN)");
  }

  @ParameterizedTest
  @EnumSource(BusState.class)
  void transitionsOfBuses(BusState from) {
    List<BusState> expected =
        switch (from) {
          case JOINING -> List.of(BusState.UP, BusState.DOWN);
          case UP -> List.of(BusState.DRAINING, BusState.DOWN);
          case DRAINING -> List.of(BusState.UP, BusState.DOWN);
          case DOWN -> List.of();
        };
    assertThat(BusState.values())
        .filteredOn(from::canBecome)
        .containsExactlyInAnyOrderElementsOf(expected);
  }

  @ParameterizedTest
  @EnumSource(RegistryLifecycle.class)
  void transitionsOfRegistries(RegistryLifecycle from) {
    List<RegistryLifecycle> expected =
        switch (from) {
          case NEW -> List.of(RegistryLifecycle.STARTING, RegistryLifecycle.CLOSED);
          case STARTING ->
              List.of(
                  RegistryLifecycle.RUNNING, RegistryLifecycle.CLOSING, RegistryLifecycle.FAILED);
          case RUNNING -> List.of(RegistryLifecycle.CLOSING, RegistryLifecycle.FAILED);
          case CLOSING -> List.of(RegistryLifecycle.CLOSED);
          case FAILED -> List.of(RegistryLifecycle.CLOSING);
          case CLOSED -> List.of();
        };
    assertThat(RegistryLifecycle.values())
        .filteredOn(from::canBecome)
        .containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  void resultsAreExpectedOrThrown() {
    CommandResult done = new CommandResult.TopicDeleted(3);
    assertThat(done.expect(CommandResult.TopicDeleted.class)).isSameAs(done);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> done.expect(CommandResult.TopicCreated.class))
        .withMessage("kind: TopicCreated (expected: TopicDeleted)");
  }

  @ParameterizedTest
  @EnumSource(RegistryRefusalReason.class)
  void refusalsSayWhetherToRetry(RegistryRefusalReason reason) {
    CommandResult refused = new CommandResult.Refused(3, reason, "because");
    assertThat(reason.advice()).isNotEqualTo(RetryAdvice.SAME_ID);
    boolean uncertain =
        reason == RegistryRefusalReason.ID_FORGOTTEN
            || reason == RegistryRefusalReason.ID_FROM_THE_FUTURE;
    assertThatThrownBy(() -> refused.expect(CommandResult.TopicDeleted.class))
        .isInstanceOfSatisfying(
            CommandRefusedException.class,
            e -> {
              assertThat(e.reason()).isEqualTo(reason);
              assertThat(e.advice()).isEqualTo(reason.advice());
              assertThat(e.maybeApplied()).isEqualTo(uncertain);
              assertThat(e).hasMessage(reason + ": because");
            });
  }
}
