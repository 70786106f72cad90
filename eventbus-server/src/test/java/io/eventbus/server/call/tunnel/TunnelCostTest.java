package io.eventbus.server.call.tunnel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.eventbus.protocol.TunnelFrames;
import io.eventbus.server.samples.ReachableHeap;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Cost of tunnels for the bus: nothing for a frame, and little for an idle tunnel. */
class TunnelCostTest {
  // Few: for every 128th buffer the leak detector records the allocation, which itself allocates.
  private static final int ROUNDS = 20;
  private static final int ATTEMPTS = 300;
  private static final int IDLE = 10_000;
  private static final int CONNECTIONS = 10;

  private static ThreadMXBean threads() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    assumeTrue(
        threads.isThreadAllocatedMemorySupported() && threads.isThreadAllocatedMemoryEnabled(),
        "this JVM does not count what a thread allocates");
    return threads;
  }

  @Test
  void aFrameAllocatesNothing() throws Exception {
    ThreadMXBean threads = threads();
    CompletableFuture<Long> minBytes = new CompletableFuture<>();
    // Thread like an event loop's: other threads get no cache from the allocator.
    Thread thread =
        new FastThreadLocalThread(
            () -> {
              try {
                minBytes.complete(measure(threads));
              } catch (Throwable e) {
                minBytes.completeExceptionally(e);
              }
            });
    thread.start();
    assertThat(minBytes.get(60, TimeUnit.SECONDS))
        .as("bytes allocated in %d rounds", ROUNDS)
        .isZero();
  }

  private static long measure(ThreadMXBean threads) {
    TunnelFixture kit = new TunnelFixture(TunnelSettings.of(1_024, 8 << 20));
    TunnelFixture.Connection caller = kit.connection();
    TunnelFixture.Connection member = kit.connection();
    kit.open(caller, member, 1, 1 << 20, 1 << 20);
    caller.withoutMaps();
    // Large enough for a buffer of its own: small ones share slabs, which are allocated now and
    // then.
    ByteBuffer payload = ByteBuffer.allocate(4_000);
    int cost = TunnelFrames.cost(payload.remaining());
    long offset = 0;
    long limit = 4_096;
    // As with calls: a measurement without any allocation has to occur, and soon.
    long minBytes = Long.MAX_VALUE;
    for (int attempt = 0; attempt < ATTEMPTS && minBytes > 0; attempt++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 3 && offset + cost <= limit; i++) {
          caller.data(1, offset, false, false, payload);
          offset += cost;
        }
        while (member.take(null)) {
          member.tunnels.credit(-1, offset + (1 << 20), 0);
        }
        limit = Math.max(limit, caller.lastLimit);
      }
      minBytes = Math.min(minBytes, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat(caller.endings).isEmpty();
    assertThat(caller.lastLimit).isGreaterThan(offset);
    return minBytes;
  }

  @Test
  void theCountOfIdleTunnelsIsWhatTheHeapGrowsBy() {
    TunnelFixture kit = new TunnelFixture(TunnelSettings.of(1_024, 8 << 20));
    List<TunnelFixture.Connection> all = new ArrayList<>();
    for (int i = 0; i < 2 * CONNECTIONS; i++) {
      all.add(kit.connection());
      all.get(i).withoutMaps();
    }
    long before = ReachableHeap.bytes(kit, all);
    for (int i = 0; i < IDLE; i++) {
      int at = i % CONNECTIONS;
      TunnelHalf half = all.get(at).tunnels.request(1 + i, false, 1 << 18);
      assertThat(half).isNotNull();
      half.accepted(all.get(CONNECTIONS + at).tunnels.accept(-1 - i, 1 << 18, half));
    }
    long measured = (ReachableHeap.bytes(kit, all) - before) / IDLE;
    long counted = all.stream().mapToLong(one -> one.held.bytes()).sum() / IDLE;
    System.out.println("an idle tunnel: " + measured + " bytes of heap, counted as " + counted);
    assertThat(counted).isBetween((long) (measured * 0.9), measured * 2);
    all.forEach(one -> one.tunnels.close());
    all.forEach(one -> assertThat(one.held.bytes()).isZero());
    assertThat(kit.memory.used()).isZero();
  }

  private static void openIdle(
      List<TunnelFixture.Connection> callers, List<TunnelFixture.Connection> members, int tunnels) {
    for (int i = 0; i < tunnels; i++) {
      int at = i % CONNECTIONS;
      TunnelHalf half = callers.get(at).tunnels.request(1 + i, false, 1 << 18);
      assertThat(half).isNotNull();
      half.accepted(members.get(at).tunnels.accept(-1 - i, 1 << 18, half));
    }
  }

  @Test
  void tenThousandIdleTunnelsTakeLessThanTenMegabytes() {
    ThreadMXBean threads = threads();
    TunnelFixture kit = new TunnelFixture(TunnelSettings.of(1_024, 8 << 20));
    List<TunnelFixture.Connection> callers = new ArrayList<>();
    List<TunnelFixture.Connection> members = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      callers.add(kit.connection());
      members.add(kit.connection());
    }
    // Shared objects are allocated before the measurement.
    openIdle(callers, members, CONNECTIONS);
    callers.forEach(caller -> caller.tunnels.close());
    callers.replaceAll(caller -> kit.connection());
    members.replaceAll(member -> kit.connection());
    long before = threads.getCurrentThreadAllocatedBytes();
    openIdle(callers, members, IDLE);
    // All allocations, including garbage.
    long each = (threads.getCurrentThreadAllocatedBytes() - before) / IDLE;
    assertThat(kit.stats.tunnels.get()).isEqualTo(IDLE);
    assertThat(each).as("bytes of heap for each").isLessThanOrEqualTo(1_024);
    callers.forEach(caller -> caller.tunnels.close());
    assertThat(kit.stats.tunnels.get()).isZero();
    members.forEach(member -> assertThat(member.tunnels.size()).isZero());
  }
}
