package io.eventbus.server.balance.decision;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/**
 * Buses that balance themselves, with a clock of the test's: the classes of the bus, nothing else.
 */
class BalanceProperties {
  private static final double HIGH = 0.85;
  private static final double LOW = 0.7;
  private static final Duration COOL_DOWN = Duration.ofMinutes(1);
  private static final long STEP = Duration.ofMillis(500).toNanos();

  private static final class Client {
    final long producer;
    double load;
    int hops;
    long arrived;
    final List<Long> moves = new ArrayList<>();

    Client(long producer, double load) {
      this.producer = producer;
      this.load = load;
    }
  }

  /** Bus of the model. */
  private static final class Bus {
    final String name;
    final LoadMeasure measure = new LoadMeasure(Duration.ofSeconds(2));
    final Reservations reservations = new Reservations(LOW, HIGH, Duration.ofSeconds(4));
    final MoveHistory history = new MoveHistory(COOL_DOWN, 4);
    final MovePlanner planner;
    final List<Client> clients = new ArrayList<>();
    double told;

    Bus(String name, Random random) {
      this.name = name;
      planner =
          new MovePlanner(
              new MovePlanner.Settings(
                  HIGH,
                  LOW,
                  Duration.ofSeconds(2),
                  Duration.ofSeconds(2),
                  200,
                  Duration.ofSeconds(5)),
              "zone",
              random);
    }

    double trueLoad() {
      return clients.stream().mapToDouble(c -> c.load).sum();
    }
  }

  private final List<Bus> buses = new ArrayList<>();
  private final Map<String, Bus> byName = new HashMap<>();
  private long now;
  private int moves;

  private void buses(int count, long seed) {
    for (int i = 0; i < count; i++) {
      Bus bus = new Bus("bus-" + i, new Random(seed + i));
      buses.add(bus);
      byName.put(bus.name, bus);
    }
  }

  private void clients(Bus bus, int count, double load) {
    for (int i = 0; i < count; i++) {
      bus.clients.add(
          new Client(bus.name.hashCode() * 100_000L + bus.clients.size(), load / count));
    }
  }

  private void step() {
    now += STEP;
    for (Bus bus : buses) {
      // A bus cannot do more than it can.
      bus.measure.add(Math.min(1, bus.trueLoad()), now);
    }
    for (Bus bus : buses) {
      relieve(bus);
    }
    // The peers' knowledge is a step old.
    buses.forEach(bus -> bus.told = bus.measure.load());
  }

  private void relieve(Bus bus) {
    List<MoveTarget> others =
        buses.stream()
            .filter(b -> b != bus)
            .map(b -> new MoveTarget(b.name, "zone", b.told))
            .toList();
    Map<Long, Client> known = new HashMap<>();
    bus.planner
        .relieve(
            // Moves take no time here.
            new MovePlanner.Fullness(bus.measure.load(), bus.measure.recent(), 0),
            () ->
                bus.clients.stream()
                    .map(
                        c -> {
                          known.put(c.producer, c);
                          int hops = MoveHistory.hops(c.hops, c.arrived, now);
                          return new ClientLoad(
                              c.producer,
                              c.producer,
                              c.load,
                              Set.of(),
                              hops,
                              bus.history.isMovable(c.producer, hops, c.arrived, false, now));
                        })
                    .toList(),
            others,
            now)
        .forEach(plan -> carryOut(bus, plan, known));
  }

  private void carryOut(Bus bus, MovePlanner.Plan plan, Map<Long, Client> known) {
    Bus target = byName.get(plan.target().bus());
    assertThat(target).isNotNull();
    double[] loads = plan.clients().stream().mapToDouble(ClientLoad::load).toArray();
    int granted =
        target.planner.isOverloaded()
            ? 0
            : target.reservations.grant(
                new Reservations.Request(bus.measure.load(), false, loads),
                target.measure.load(),
                now);
    bus.planner.granted(plan, granted, now);
    for (ClientLoad moved : plan.clients().subList(0, granted)) {
      Client client = known.get(moved.producer());
      assertThat(client).isNotNull();
      bus.clients.remove(client);
      target.clients.add(client);
      client.hops = moved.hops() + 1;
      client.arrived = now;
      client.moves.add(now);
      moves++;
    }
  }

  private void run(Duration time) {
    for (long end = now + time.toNanos(); now < end; ) {
      step();
    }
  }

  private void assertNobodyMovedTwiceInAMinute() {
    for (Bus bus : buses) {
      for (Client client : bus.clients) {
        for (int i = 1; i < client.moves.size(); i++) {
          assertThat(client.moves.get(i) - client.moves.get(i - 1))
              .isGreaterThanOrEqualTo(COOL_DOWN.toNanos());
        }
      }
    }
  }

  private void fresh() {
    buses.clear();
    byName.clear();
    moves = 0;
    now = 0;
  }

  @Property(tries = 50)
  void twoOverloadedBusesPlayNoPingPong(
      @ForAll long seed,
      @ForAll @DoubleRange(min = 0.86, max = 2) double one,
      @ForAll @DoubleRange(min = 0.86, max = 2) double other) {
    fresh();
    buses(2, seed);
    clients(buses.get(0), 50, one);
    clients(buses.get(1), 50, other);
    run(Duration.ofMinutes(30));
    assertThat(moves).isZero();
  }

  @Property(tries = 50)
  void anOverloadedBusIsRelievedWhereThereIsRoomAndThenThereIsQuiet(
      @ForAll long seed,
      @ForAll @IntRange(min = 2, max = 12) int count,
      @ForAll @DoubleRange(min = 0.9, max = 1.3) double load) {
    fresh();
    buses(count, seed);
    clients(buses.get(0), 200, load);
    for (Bus bus : buses.subList(1, count)) {
      clients(bus, 20, 0.05);
    }
    // Demand beyond the capacity of a bus shows only when the rest is gone.
    run(Duration.ofSeconds(load <= 1 ? 14 : 45));
    assertThat(buses.get(0).measure.load()).isLessThan(LOW);
    assertThat(buses.get(0).planner.isOverloaded()).isFalse();
    run(Duration.ofMinutes(2));
    int before = moves;
    run(Duration.ofMinutes(28));
    assertThat(moves).as("moves after the first minutes").isEqualTo(before);
    assertNobodyMovedTwiceInAMinute();
    for (Bus bus : buses) {
      assertThat(bus.trueLoad()).isLessThan(HIGH);
    }
  }

  @Property(tries = 30)
  void noClientIsSentToAndFroUnderAnyLoads(@ForAll long seed) {
    fresh();
    Random random = new Random(seed);
    buses(2 + random.nextInt(8), seed);
    for (Bus bus : buses) {
      clients(bus, 1 + random.nextInt(60), random.nextDouble() * 1.5);
    }
    for (int minute = 0; minute < 10; minute++) {
      // The clients change what they do now and then.
      for (Bus bus : buses) {
        bus.clients.forEach(c -> c.load *= 0.8 + 0.4 * random.nextDouble());
      }
      run(Duration.ofMinutes(1));
    }
    assertNobodyMovedTwiceInAMinute();
  }

  @Test
  void aHotSpotAmongManyBusesSpreadsOut() {
    fresh();
    buses(100, 7);
    clients(buses.get(0), 2_000, 5);
    for (Bus bus : buses.subList(1, 100)) {
      clients(bus, 10, 0.3);
    }
    run(Duration.ofMinutes(2));
    assertThat(buses.get(0).trueLoad()).isLessThan(HIGH);
    assertThat(buses.stream().mapToDouble(Bus::trueLoad).max().orElseThrow()).isLessThan(HIGH);
    assertNobodyMovedTwiceInAMinute();
  }
}
