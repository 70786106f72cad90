package io.eventbus.server.balance.decision;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class MoveChooserTest {
  @Test
  void topicsGoWholeWhereFewSingleClientsDo() {
    List<ClientLoad> clients = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      clients.add(client(i, 0.01, i <= 8 ? "a" : "b" + i));
    }
    assertThat(ids(MoveChooser.choose(clients, 0.08, 1, 10, 3))).hasSize(8).contains(1L, 8L);
    assertThat(ids(MoveChooser.choose(clients, 0.2, 1, 10, 3))).hasSize(8);
    List<ClientLoad> own = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      own.add(client(i, 0.01, "inbox." + i));
    }
    assertThat(ids(MoveChooser.choose(own, 0.2, 1, 10, 3))).hasSize(3);
    assertThat(ids(MoveChooser.choose(clients.subList(0, 1), 0.2, 1, 10, 3))).hasSize(1);
    List<ClientLoad> alone = clients.stream().map(c -> client(c.connection(), 0.01)).toList();
    assertThat(ids(MoveChooser.choose(alone, 0.2, 1, 10, 3))).hasSize(3);
  }

  private static ClientLoad client(long id, double load, String... topics) {
    return new ClientLoad(id, id, load, Set.of(topics), 0, true);
  }

  private static List<Long> ids(List<ClientLoad> clients) {
    return clients.stream().map(ClientLoad::connection).toList();
  }

  @Test
  void aTopicThatIsEnoughGoesAlone() {
    List<ClientLoad> clients =
        List.of(
            client(1, 0.1, "a"),
            client(2, 0.1, "a"),
            client(3, 0.01, "b"),
            client(4, 0.3, "c"),
            client(5, 0.1, "c"),
            client(6, 0.1, "c"));
    assertThat(ids(MoveChooser.choose(clients, 0.15, 1, 100, 100))).containsExactly(1L, 2L);
    assertThat(ids(MoveChooser.choose(clients, 0.3, 1, 100, 100))).containsExactly(4L, 5L, 6L);
  }

  @Test
  void aTopicThatFindsNoRoomIsSplitTheHeaviestFirst() {
    List<ClientLoad> clients =
        List.of(client(1, 0.1, "a"), client(2, 0.3, "a"), client(3, 0.2, "a"));
    assertThat(ids(MoveChooser.choose(clients, 0.25, 0.4, 100, 100))).containsExactly(2L);
    assertThat(ids(MoveChooser.choose(clients, 0.35, 0.4, 100, 100))).containsExactly(2L, 1L);
  }

  @Test
  void severalTopicsGoWhereOneIsNotEnough() {
    List<ClientLoad> clients =
        List.of(client(1, 0.1, "a"), client(2, 0.1, "a"), client(3, 0.2, "b"), client(4, 0.1, "c"));
    assertThat(ids(MoveChooser.choose(clients, 0.35, 0.4, 100, 100))).containsExactly(3L, 1L, 2L);
  }

  @Test
  void anImmovableClientKeepsItsTopic() {
    ClientLoad fixed = new ClientLoad(1, 1, 0.1, Set.of("a"), 0, false);
    List<ClientLoad> clients = List.of(fixed, client(2, 0.1, "a"), client(3, 0.05, "b"));
    assertThat(ids(MoveChooser.choose(clients, 0.05, 1, 100, 100))).containsExactly(3L);
    assertThat(ids(MoveChooser.choose(clients, 0.5, 1, 100, 100))).containsExactly(3L, 2L);
  }

  @Test
  void noClientMovesWithoutNeed() {
    assertThat(MoveChooser.choose(List.of(client(1, 0.1)), 0, 1, 100, 100)).isEmpty();
    assertThat(MoveChooser.choose(List.of(client(1, 0.1)), 0.1, 1, 0, 0)).isEmpty();
    assertThat(MoveChooser.choose(List.of(client(1, 0.1)), 0.1, 0.05, 9, 9)).isEmpty();
  }

  @Provide
  Arbitrary<List<ClientLoad>> clients() {
    return Combinators.combine(
            Arbitraries.doubles().between(0, 0.2),
            Arbitraries.of("a", "b", "c", "d", "e").set().ofMaxSize(2),
            Arbitraries.of(true, true, true, false))
        .as((load, topics, movable) -> new ClientLoad(0, 0, load, topics, 0, movable))
        .list()
        .ofMaxSize(40)
        .map(
            list -> {
              List<ClientLoad> numbered = new ArrayList<>();
              for (ClientLoad c : list) {
                long id = numbered.size() + 1L;
                numbered.add(new ClientLoad(id, id, c.load(), c.topics(), 0, c.movable()));
              }
              return numbered;
            });
  }

  @Property
  void chosenClientsFit(
      @ForAll("clients") List<ClientLoad> clients,
      @ForAll @DoubleRange(min = 0, max = 1) double excess,
      @ForAll @DoubleRange(min = 0, max = 1) double room,
      @ForAll @IntRange(max = 50) int max) {
    List<ClientLoad> chosen = MoveChooser.choose(clients, excess, room, max, max);
    assertThat(chosen).hasSizeLessThanOrEqualTo(max).doesNotHaveDuplicates();
    assertThat(chosen).allMatch(ClientLoad::movable);
    assertThat(chosen.stream().mapToDouble(ClientLoad::load).sum())
        .isLessThanOrEqualTo(room + 1e-9);
  }

  @Property
  void noTopicAloneWouldHaveDoneWithFewer(
      @ForAll("clients") List<ClientLoad> clients,
      @ForAll @DoubleRange(min = 0.01, max = 0.5) double excess) {
    List<ClientLoad> chosen = MoveChooser.choose(clients, excess, 10, 100, 100);
    for (String topic : List.of("a", "b", "c", "d", "e")) {
      List<ClientLoad> of = clients.stream().filter(c -> c.topics().contains(topic)).toList();
      double load = of.stream().mapToDouble(ClientLoad::load).sum();
      if (of.stream().allMatch(ClientLoad::movable) && load >= excess) {
        assertThat(chosen).hasSizeLessThanOrEqualTo(of.size());
      }
    }
  }

  @Test
  void ofTwoTakenAtRandomTheQuieterIsTheTargetAndTheOwnZoneComesFirst() {
    List<MoveTarget> all =
        Arrays.asList(
            new MoveTarget("a", "east", 0.5),
            new MoveTarget("b", "east", 0.1),
            new MoveTarget("c", "east", 0.9),
            new MoveTarget("d", "west", 0.0));
    TargetChooser chooser = new TargetChooser("east", new Random(1));
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      MoveTarget target = chooser.choose(all, n -> true);
      assertThat(target).isNotNull();
      seen.add(target.bus());
    }
    assertThat(seen)
        .as("never the fullest, never another zone")
        .containsExactlyInAnyOrder("a", "b");
    assertThat(chooser.choose(all, n -> n.zone().equals("west")))
        .isEqualTo(new MoveTarget("d", "west", 0.0));
    assertThat(chooser.choose(all, n -> false)).isNull();
  }

  @Test
  void aBusGrantsWhatItHasRoomFor() {
    Reservations reservations = new Reservations(0.7, 0.85, java.time.Duration.ofSeconds(3));
    double[] three = {0.1, 0.1, 0.1};
    Reservations.Request request = new Reservations.Request(0.95, false, three);
    assertThat(reservations.grant(request, 0.48, 0)).as("room for 0.22").isEqualTo(2);
    assertThat(reservations.reserved(0)).isEqualTo(0.2);
    assertThat(reservations.grant(request, 0.48, 0)).as("all is granted").isZero();
    assertThat(reservations.grant(new Reservations.Request(0.95, true, three), 0.48, 0))
        .as("up to the high mark for a bus that ends")
        .isEqualTo(1);
    reservations.release(0.3, 0);
    assertThat(reservations.grant(request, 0.48, 0)).isEqualTo(2);
    assertThat(reservations.grant(request, 0.71, 0)).isZero();
  }

  @Test
  void aBusGrantsNothingThatWouldMakeItFullerThanTheOther() {
    Reservations reservations = new Reservations(0.7, 0.85, java.time.Duration.ofSeconds(3));
    double[] two = {0.1, 0.1};
    assertThat(reservations.grant(new Reservations.Request(0.6, false, two), 0.3, 0)).isEqualTo(1);
    assertThat(reservations.grant(new Reservations.Request(0.2, false, two), 0.3, 0)).isZero();
  }
}
