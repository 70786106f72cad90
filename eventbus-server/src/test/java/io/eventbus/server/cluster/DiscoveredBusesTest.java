package io.eventbus.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DiscoveredBusesTest {
  private final DiscoveredBuses buses = new DiscoveredBuses(100);

  private static Announcement of(String bus, int port) {
    return new Announcement("c", "", new BusId(bus), new Endpoint("127.0.0.1", port), 1);
  }

  @Test
  void silentBusesAreForgotten() {
    buses.heard(of("a", 1), Long.MAX_VALUE - 50);
    buses.heard(of("b", 2), Long.MAX_VALUE);
    assertThat(buses.addresses(Long.MIN_VALUE + 40)).extracting(Endpoint::port).contains(1, 2);
    assertThat(buses.addresses(Long.MIN_VALUE + 60)).extracting(Endpoint::port).contains(2);
    assertThat(buses.addresses(Long.MIN_VALUE + 200)).isEmpty();
  }

  @Test
  void theNewestAddressCounts() {
    buses.heard(of("a", 1), 0);
    buses.heard(of("a", 2), 1);
    assertThat(buses.addresses(2)).containsExactly(new Endpoint("127.0.0.1", 2));
  }

  @Test
  void thereIsRoomForSome() {
    IntStream.rangeClosed(1, 1_000).forEach(i -> buses.heard(of("bus-" + i, i), 0));
    buses.heard(of("bus-1", 5_000), 0);
    assertThat(buses.addresses(0))
        .hasSize(DiscoveredBuses.MAX_BUSES)
        .contains(new Endpoint("127.0.0.1", 5_000));
  }
}
