package io.eventbus.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NeighboursTest {
  private final Neighbours neighbours = new Neighbours(100);

  private static Announcement of(String bus, int port) {
    return new Announcement("c", "", new BusId(bus), new Endpoint("127.0.0.1", port), 1);
  }

  @Test
  void whoIsSilentIsForgotten() {
    neighbours.heard(of("a", 1), Long.MAX_VALUE - 50);
    neighbours.heard(of("b", 2), Long.MAX_VALUE);
    assertThat(neighbours.addresses(Long.MIN_VALUE + 40)).extracting(Endpoint::port).contains(1, 2);
    assertThat(neighbours.addresses(Long.MIN_VALUE + 60)).extracting(Endpoint::port).contains(2);
    assertThat(neighbours.addresses(Long.MIN_VALUE + 200)).isEmpty();
  }

  @Test
  void theNewestAddressCounts() {
    neighbours.heard(of("a", 1), 0);
    neighbours.heard(of("a", 2), 1);
    assertThat(neighbours.addresses(2)).containsExactly(new Endpoint("127.0.0.1", 2));
  }

  @Test
  void thereIsRoomForSome() {
    IntStream.rangeClosed(1, 1_000).forEach(i -> neighbours.heard(of("bus-" + i, i), 0));
    neighbours.heard(of("bus-1", 5_000), 0);
    assertThat(neighbours.addresses(0))
        .hasSize(Neighbours.MOST)
        .contains(new Endpoint("127.0.0.1", 5_000));
  }
}
