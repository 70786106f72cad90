package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.memory.BusMemory;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Order of eviction when the bus is out of memory. */
class MemoryPressureTest {
  private final BusMemory memory = new BusMemory(1_000);
  private final EmbeddedChannel loop = new EmbeddedChannel();
  private final ConnectionLoop state =
      new ConnectionLoop(0, loop.eventLoop(), ServerConfig.defaults());
  private final List<String> gone = new ArrayList<>();
  private final List<Advisory> told = new ArrayList<>();
  private final Advisories advisories = new Advisories();

  /** Bytes that wait for an unreachable peer. */
  private long forOthers;

  private boolean fails;

  MemoryPressureTest() {
    MemoryPressure.relieve(memory, List.of(state), this::relieve, advisories);
    advisories.listen(told::add);
    state.add(new Connection("small", 300));
    state.add(new Connection("big", 600));
  }

  private boolean relieve() {
    if (fails) {
      throw new IllegalStateException("on purpose");
    }
    if (forOthers == 0) {
      return false;
    }
    gone.add("bus");
    memory.release(forOthers);
    forOthers = 0;
    return true;
  }

  private class Connection implements ConnectionLoop.Ticking {
    final String name;
    long held;

    Connection(String name, long held) {
      this.name = name;
      this.held = held;
    }

    @Override
    public boolean onTick(long nowNanos) {
      return true;
    }

    @Override
    public void stopReading() {}

    @Override
    public void shutdown() {}

    @Override
    public long heldBytes() {
      return held;
    }

    @Override
    public double evictionScore(MemoryPressure.Kind kind, long nowNanos) {
      return held;
    }

    @Override
    public void evict() {
      gone.add(name);
      memory.release(held);
      held = 0;
    }
  }

  private void reserve(long bytes) {
    memory.reserve(bytes);
    loop.runPendingTasks();
  }

  @Test
  void theConnectionWithTheStrongestClaimIsClosed() {
    reserve(900);
    assertThat(gone).isEmpty();
    reserve(200);
    assertThat(gone).containsExactly("big");
    assertThat(told)
        .hasSize(1)
        .first()
        .isInstanceOfSatisfying(
            Advisory.ConnectionEvicted.class,
            evicted -> {
              assertThat(evicted.heldBytes()).isEqualTo(600);
              assertThat(evicted.limit()).isEqualTo("limits.memory-bytes");
            });
    assertThat(memory.used()).isEqualTo(500);
  }

  @Test
  void queuesForUnreachablePeersAreDroppedBeforeAnyConnection() {
    forOthers = 150;
    reserve(900);
    reserve(150);
    assertThat(gone).containsExactly("bus");
    assertThat(memory.used()).isEqualTo(900);
  }

  @Test
  void connectionsFollowWhereThatIsNotEnough() {
    forOthers = 150;
    reserve(900);
    reserve(950);
    assertThat(gone).containsExactly("bus", "big", "small");
  }

  @Test
  void aFailingEvictionDoesNotStopTheSearch() {
    state.add(
        new Connection("broken", 5_000) {
          @Override
          public void evict() {
            gone.add(name);
            throw new IllegalStateException("on purpose");
          }
        });
    reserve(900);
    reserve(950);
    assertThat(gone).containsExactly("broken", "big", "small");
  }

  @Test
  void aSearchThatFailsIsFollowedByOthersAndTheEndOfTheHeapIsTold() {
    List<Throwable> fatal = new ArrayList<>();
    state.onFatal(fatal::add);
    OutOfMemoryError heap = new OutOfMemoryError("Java heap space");
    Connection broken =
        new Connection("broken", 5_000) {
          @Override
          public double evictionScore(MemoryPressure.Kind kind, long nowNanos) {
            throw heap;
          }
        };
    TickOrder.Place place = state.add(broken);
    reserve(900);
    reserve(200);
    assertThat(gone).isEmpty();
    assertThat(fatal).containsExactly(heap);
    state.remove(place);
    memory.press();
    loop.runPendingTasks();
    assertThat(gone).containsExactly("big");
  }

  @Test
  void aFailedReliefElsewhereDoesNotEndTheSearches() {
    fails = true;
    reserve(900);
    reserve(200);
    assertThat(gone).isEmpty();
    fails = false;
    memory.press();
    loop.runPendingTasks();
    assertThat(gone).containsExactly("big");
  }

  @Test
  void aFailingScoreDoesNotStopTheSearch() {
    state.add(
        new Connection("dumb", 4_000) {
          @Override
          public double evictionScore(MemoryPressure.Kind kind, long nowNanos) {
            throw new IllegalStateException("on purpose");
          }
        });
    reserve(900);
    reserve(950);
    assertThat(gone).containsExactly("big", "small");
  }
}
