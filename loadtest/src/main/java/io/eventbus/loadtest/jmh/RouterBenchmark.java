package io.eventbus.loadtest.jmh;

import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of a received frame in the bus, from its first byte to the offer to each subscriber: check,
 * look up, build the delivery, fan out.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = "-Dlogback.configurationFile=loadtest-logback.xml")
public class RouterBenchmark {
  /** Events in one frame. */
  @Param({"1", "10", "100", "500"})
  public int batch;

  /** Bytes of each payload. */
  @Param({"16", "128", "1024"})
  public int payloadBytes;

  /** Subscribers of the topic. */
  @Param({"1", "100"})
  public int subscribers;

  private final SubscriptionIndex index = new SubscriptionIndex(1);
  private final PublishView publish = new PublishView();
  private final FrameCursor frames = new FrameCursor();
  private final Router router =
      new Router(
          0,
          new OneLoop(),
          index,
          PooledByteBufAllocator.DEFAULT,
          new BusMemory(1L << 30),
          new LoopStats(),
          RemoteForwarder.NONE,
          () -> {});
  private final Runnable retry = this::neverAgain;
  private ByteBuffer frame = ByteBuffer.allocate(0);

  /** Makes the frame and the subscriptions. */
  @Setup
  public void prepare() {
    TopicFilter filter = TopicFilter.parse("flights.zrh.departed");
    for (int i = 0; i < subscribers; i++) {
      index.add(new RoutedSubscription(new IgnoringSubscriber(), 1, filter, null, Overflow.BLOCK));
    }
    frame =
        PublishFrameSamples.of(
            PublishFrameSamples.topic("flights.zrh.departed"),
            1,
            batch,
            PublishFrameSamples.payload(payloadBytes));
  }

  private void neverAgain() {
    throw new IllegalStateException("a router that waits for subscribers that are never full");
  }

  /** Routes one frame. */
  @Benchmark
  public int route() {
    frames.wrap(frame, 0, frame.limit());
    frames.next();
    publish.read(frame, frames.bodyStart(), frames.bodyEnd(), FrameLimits.DEFAULT);
    if (router.select(frame, publish) != null || router.mustWait(1, retry)) {
      throw new IllegalStateException("not routed");
    }
    router.deliver(frame, publish, 1, PublishFrameSamples.PUBLISHED_AT, System.nanoTime());
    return publish.eventCount();
  }
}
