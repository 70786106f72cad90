package io.eventbus.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import io.eventbus.server.samples.RegisteredBuses;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BusLivesTest {
  private final LocalRegistry registry =
      new LocalRegistry(LocalRegistryOptions.DEFAULT, Clock.systemUTC());

  @AfterEach
  void close() {
    registry.close();
  }

  private BusLives of(String bus) {
    return new BusLives(new BusId(bus), registry::snapshot);
  }

  @Test
  void aLifeEndsWithItsBusAndWithTheNextLife() throws Exception {
    registry.start().toCompletableFuture().get(60, TimeUnit.SECONDS);
    RegisteredBuses.add(registry, "a", BusState.UP);
    RegisteredBuses.add(registry, "b", BusState.UP, BusState.DRAINING);
    RegisteredBuses.add(registry, "c", BusState.UP, BusState.DOWN);
    RegisteredBuses.add(registry, "ab", BusState.UP);
    BusLives lives = of("a");
    assertThat(lives.own()).isEqualTo("a/1");
    assertThat(lives.hasEnded("a/1")).isFalse();
    assertThat(lives.hasEnded(of("b").own())).as("draining").isFalse();
    assertThat(lives.hasEnded(of("ab").own())).isFalse();
    assertThat(lives.hasEnded(of("c").own())).as("down").isTrue();
    assertThat(lives.hasEnded(of("d").own())).as("not registered").isTrue();
    for (String other : List.of("a/2", "b/1", "a", "a/", "/1", "", "a/01")) {
      assertThat(lives.hasEnded(other)).as(other).isTrue();
    }

    for (String unregistered : List.of("c", "d")) {
      assertThat(of(unregistered).hasEnded("x/9")).as("known to %s", unregistered).isFalse();
    }

    String before = of("c").own();
    RegisteredBuses.add(registry, "c", BusState.UP);
    assertThat(of("c").own()).isNotEqualTo(before);
    assertThat(lives.hasEnded(before)).isTrue();
    assertThat(lives.hasEnded(of("c").own())).isFalse();
  }
}
