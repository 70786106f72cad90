package io.eventbus.loadtest.jmh;

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
import org.jspecify.annotations.Nullable;
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

/** The table of subscriptions when it is small, large and very large. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 2,
    jvmArgsAppend = {"-Xmx3g", "-Dlogback.configurationFile=loadtest-logback.xml"})
public class TopicTableBenchmark {
  private static final int TOPICS = 1024;
  private static final TopicFilter OTHER = TopicFilter.parse("other.topic");

  /** Subscriptions in the table. */
  @Param({"10", "10000", "1000000"})
  public int subscriptions;

  /** Kind of filters: names of topics, or with a wildcard. */
  @Param({"exact", "wildcard"})
  public String kind = "";

  private final SubscriptionIndex index = new SubscriptionIndex(1);
  private final IgnoringSubscriber subscriber = new IgnoringSubscriber();
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
  private final String[] topics = new String[TOPICS];
  private final ByteBuffer[] frames = new ByteBuffer[TOPICS];
  private final PublishView[] views = new PublishView[TOPICS];
  private int next;

  /** Fills the table: each filter selects one of a range of topics. */
  @Setup
  public void prepare() {
    boolean wildcard = kind.equals("wildcard");
    for (int i = 0; i < subscriptions; i++) {
      String filter = wildcard ? "flights." + i + ".*" : topic(i);
      index.add(subscription(TopicFilter.parse(filter)));
    }
    int stride = Math.max(1, subscriptions / TOPICS);
    for (int i = 0; i < TOPICS; i++) {
      topics[i] = topic(i * stride % subscriptions);
      frames[i] =
          PublishFrameSamples.of(
              PublishFrameSamples.topic(topics[i]), 1, 1, PublishFrameSamples.payload(128));
      views[i] = PublishFrameSamples.read(frames[i], new PublishView());
    }
  }

  private static String topic(int number) {
    return "flights." + number + ".departed";
  }

  private RoutedSubscription subscription(TopicFilter filter) {
    return new RoutedSubscription(subscriber, 1, filter, null, Overflow.BLOCK);
  }

  private int next() {
    next = (next + 1) & (TOPICS - 1);
    return next;
  }

  /**
   * Finds the subscribers of a topic that the loop has not seen yet, or whose subscribers have
   * changed.
   */
  @Benchmark
  public int lookUp() {
    return index.subscribers(topics[next()]);
  }

  /**
   * Finds them again in the loop's cache: the case of almost every frame.
   *
   * @return null
   */
  @Benchmark
  public @Nullable String select() {
    int i = next();
    return router.select(frames[i], views[i]);
  }

  /** Adds a subscription to a full table and removes it. */
  @Benchmark
  public long addAndRemove() {
    RoutedSubscription extra = subscription(OTHER);
    index.add(extra);
    index.remove(extra);
    return index.size();
  }
}
