package io.eventbus.server.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In steady state a frame is routed without an object, on its loop and across loops. */
class RouterAllocationTest {
  private static final int EVENTS = 100;
  private static final int ROUNDS = 200;
  private static final int ATTEMPTS = 300;

  /** Keeps a delivery for a moment, as a queue does. */
  private static final class Quick implements Subscriber {
    private final int loop;
    long events;

    Quick(int loop) {
      this.loop = loop;
    }

    @Override
    public int loop() {
      return loop;
    }

    @Override
    public void offer(Delivery delivery, Overflow overflow) {
      delivery.retain();
      events += delivery.events();
      delivery.release();
    }

    @Override
    public boolean isCrowded() {
      return isFull();
    }

    @Override
    public boolean isFull() {
      return false;
    }

    @Override
    public void whenNotFull(Runnable retry) {
      throw new AssertionError("never full");
    }
  }

  /** Runs the one task that a flush makes at once. */
  private static final class DirectLoops implements Loops {
    @Override
    public int count() {
      return 2;
    }

    @Override
    public Executor executor(int loop) {
      return Runnable::run;
    }

    @Override
    public void handOver(int loop) {
      throw new AssertionError("not used here");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void routingAllocatesNothing(int subscribersLoop) throws Exception {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    assumeTrue(
        threads.isThreadAllocatedMemorySupported() && threads.isThreadAllocatedMemoryEnabled(),
        "this JVM does not count what a thread allocates");
    CompletableFuture<Long> least = new CompletableFuture<>();
    // A thread like an event loop's: others get no cache from the allocator.
    Thread thread =
        new FastThreadLocalThread(
            () -> {
              try {
                least.complete(measure(threads, subscribersLoop));
              } catch (Throwable e) {
                least.completeExceptionally(e);
              }
            });
    thread.start();
    assertThat(least.get(60, TimeUnit.SECONDS))
        .as("bytes allocated in %d rounds of %d events", ROUNDS, EVENTS)
        .isZero();
  }

  private static long measure(ThreadMXBean threads, int subscribersLoop) {
    SubscriptionIndex index = new SubscriptionIndex(2);
    Quick subscriber = new Quick(subscribersLoop);
    index.add(
        new RoutedSubscription(
            subscriber, 1, TopicFilter.parse("flights.ESSA.landed"), null, Overflow.BLOCK));
    BusMemory memory = new BusMemory(1 << 30);
    Router router =
        new Router(
            0,
            new DirectLoops(),
            index,
            PooledByteBufAllocator.DEFAULT,
            memory,
            new LoopStats(),
            RemoteForwarder.NONE,
            () -> {});
    List<SampleFrames.Event> events =
        new ArrayList<>(Collections.nCopies(EVENTS, new SampleFrames.Event("key", "x".repeat(64))));
    byte[] frame = SampleFrames.publish("flights.ESSA.landed", 1, false, events);
    ByteBuffer in = ByteBuffer.allocateDirect(frame.length).put(frame).flip();
    FrameCursor frames = new FrameCursor();
    PublishView publish = new PublishView();
    Runnable never =
        () -> {
          throw new AssertionError("nobody waits");
        };

    // The compiler adds or removes a few objects while it warms up: a measurement without any has
    // to come soon.
    long least = Long.MAX_VALUE;
    long rounds = 0;
    for (int attempt = 0; attempt < ATTEMPTS && least > 0; attempt++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int round = 0; round < ROUNDS; round++) {
        frames.wrap(in, 0, in.limit());
        frames.next();
        publish.read(in, frames.bodyStart(), frames.bodyEnd(), FrameLimits.DEFAULT);
        if (router.select(in, publish) != null || router.mustWait(1, never)) {
          throw new AssertionError("not routed");
        }
        router.deliver(in, publish, 1, 2, 3);
        router.flush();
        rounds++;
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    if (subscriber.events != rounds * EVENTS || memory.used() != 0) {
      throw new AssertionError("not delivered");
    }
    return least;
  }
}
