package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Overflow;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.delivery.LoopBarrier;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.queue.BlockBudgets;
import io.eventbus.server.queue.OutboundQueue;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.samples.SampleCalls;
import io.eventbus.server.samples.TestAccess;
import io.eventbus.server.session.BusContext;
import io.eventbus.server.session.LoopContext;
import io.eventbus.server.session.Sessions;
import io.eventbus.server.stats.BusCounters;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Cost of one round for the queue of one connection: deliveries are offered, and at the end of the
 * round all of them are written to a channel that throws them away. Netty's part of writing is in
 * the figure, the socket's is not.
 *
 * <p>The benchmark is here and not in the load test because it measures internals. The build does
 * not run it: {@code mvn -q -pl eventbus-server -am test -Dtest=OutboundQueueBenchmark
 * -Dsurefire.failIfNoSpecifiedTests=false}; its figures are for a whole round.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class OutboundQueueBenchmark {
  // As in the bus.
  private static final int LOW_WATER = 32 * 1024;
  private static final int HIGH_WATER = 128 * 1024;

  /** Number of deliveries in one round. */
  @Param({"1", "10", "100"})
  public int batch;

  /** Bytes of the frame in each: a small event, a batch of small ones, a large event. */
  @Param({"160", "14000", "66000"})
  public int frameBytes;

  /** Policy of the queue if it were full. */
  @Param({"BLOCK", "DROP_OLDEST"})
  public Overflow overflow = Overflow.BLOCK;

  private final ByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;
  private final BusMemory memory = new BusMemory(1L << 40);
  private final EmbeddedChannel channel = new Sink();
  private final OutboundQueue queue = connect();
  private Delivery delivery = Delivery.of(allocator, memory, DeliveryKind.CONTROL, new byte[0], 0);

  /** Channel that takes everything and keeps nothing. */
  private static final class Sink extends EmbeddedChannel {
    @Override
    protected void doWrite(ChannelOutboundBuffer in) {
      while (in.current() != null) {
        in.remove();
      }
    }
  }

  /** Loops of which the benchmark's thread is the only one. */
  private static final class ThisThread implements Loops {
    @Override
    public int count() {
      return 1;
    }

    @Override
    public Executor executor(int loop) {
      return Runnable::run;
    }

    @Override
    public void handOver(int loop) {}
  }

  /** Client that only listens. */
  private static final class Listener implements MessageHandler {
    private final OutboundQueue queue;

    Listener(ConnectionLoop loop, WebSocketConnection connection) {
      queue =
          new OutboundQueue(
              loop.queues(),
              connection,
              () -> "",
              why -> {
                throw new IllegalStateException(why);
              },
              why -> {});
    }

    @Override
    public boolean acceptsText() {
      return false;
    }

    @Override
    public int maxMessageBytes() {
      return 1;
    }

    @Override
    public int onMessage(
        ByteBuffer message, int from, int to, boolean text, long nowNanos, Runnable retry) {
      throw new IllegalStateException("a client that only listens has sent something");
    }

    @Override
    public void onWritable() {
      queue.drain();
    }

    @Override
    public boolean onTick(long nowNanos) {
      return true;
    }

    @Override
    public long queuedBytes() {
      return 0;
    }

    @Override
    public void onShutdown() {}

    @Override
    public void onClosed() {}
  }

  private OutboundQueue connect() {
    ServerConfig config = ServerConfig.of(Map.of("limits.queue-bytes", "64MiB"));
    Loops loops = new ThisThread();
    Clock clock = Clock.systemUTC();
    BusCounters counters = new BusCounters(1);
    SubscriptionIndex index = new SubscriptionIndex(1);
    BusContext bus =
        new BusContext(
            "bus",
            config.limits(),
            index,
            memory,
            new Sessions("bus", clock),
            TestAccess.open(),
            new LoopBarrier(loops),
            counters,
            clock);
    ConnectionLoop loop = new ConnectionLoop(0, channel.eventLoop(), config);
    Router router =
        new Router(
            0,
            loops,
            index,
            allocator,
            memory,
            counters.loops().get(0),
            RemoteForwarder.NONE,
            loop::flushSoon);
    loop.start(
        new LoopContext(
            bus,
            router,
            counters.loops().get(0),
            allocator,
            SampleCalls.calls(loops, memory, counters.loops().get(0).calls)),
        new BlockBudgets(config.timeouts().blockStallTime()));
    AtomicReference<@Nullable Listener> listener = new AtomicReference<>();
    WebSocketConnection connection =
        new WebSocketConnection(
            loop,
            channel,
            false,
            made -> {
              Listener listening = new Listener(loop, made);
              listener.set(listening);
              return listening;
            });
    channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(LOW_WATER, HIGH_WATER));
    channel.pipeline().addLast(connection);
    return Objects.requireNonNull(listener.get()).queue;
  }

  private Delivery frame() {
    ByteBuffer frame = ByteBuffer.allocate(frameBytes);
    Delivery made =
        Delivery.allocate(allocator, memory, DeliveryKind.EVENTS, frameBytes, 1, System.nanoTime());
    made.append(frame);
    made.finish();
    return made;
  }

  /** Creates the delivery that is offered again and again. */
  @Setup
  public void prepare() {
    delivery.release();
    delivery = frame();
  }

  /** Releases the delivery. */
  @TearDown
  public void release() {
    delivery.release();
    queue.close();
  }

  /** Offers a round of deliveries and writes them. */
  @Benchmark
  public long round() {
    for (int i = 0; i < batch; i++) {
      queue.offer(delivery, overflow);
    }
    channel.runPendingTasks();
    if (!queue.isEmpty()) {
      throw new IllegalStateException(queue.bytes() + " bytes were not written");
    }
    return queue.bytes();
  }

  @Test
  void measure() throws RunnerException {
    Options options =
        new OptionsBuilder()
            .include(OutboundQueueBenchmark.class.getName())
            .addProfiler(GCProfiler.class)
            .build();
    assertThat(new Runner(options).run()).isNotEmpty();
  }
}
