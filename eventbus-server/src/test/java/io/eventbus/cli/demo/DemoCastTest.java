package io.eventbus.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class DemoCastTest {
  private final DemoCast cast = new DemoCast(Flights.read(null), Duration.ofSeconds(10));

  @Test
  void everyFlightHasOnePublisherAndItsTopicTheSame() {
    for (Flight flight : cast.flights()) {
      assertThat(DemoCast.writers().stream().filter(w -> w.mine().test(flight))).hasSize(1);
    }
  }

  @Test
  void maxOfTheLoadBeginsAtOneBusAndIsTooMuchForIt() {
    long all = load(cast.readers()) + cast.flights().size();
    long elsewhere = load(cast.readers().stream().filter(r -> !r.crowded()).toList());
    assertThat(cast.eventsPerSecond()).isEqualTo(all / 10);
    assertThat((all - elsewhere) * 100 / all).isGreaterThan(DemoCluster.HIGH_PERCENT + 20);
  }

  @Test
  void dataWithOtherAirportsAndLessOfThemWillDo() {
    List<Flight> few =
        List.of(new Flight(0, "flights.4X.departed", "4X", "departed", "k", 5, "{}"));
    DemoCast small = new DemoCast(few, Duration.ofHours(1));
    assertThat(DemoCast.writers().stream().filter(w -> w.mine().test(few.get(0)))).hasSize(1);
    assertThat(small.readers()).anyMatch(r -> r.filter().equals("flights.4X.>"));
    assertThat(small.eventsPerSecond()).isEqualTo(1);
  }

  private long load(List<DemoCast.Reader> readers) {
    return readers.stream().mapToLong(r -> cast.flights().stream().filter(r.wants()).count()).sum();
  }
}
