package io.eventbus.simulation;

import io.eventbus.link.LinkPeer;
import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.registry.BusId;
import io.eventbus.schema.Overflow;
import io.eventbus.server.config.FederationConfig;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.federation.DrivenFederation;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.Router;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandler;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;

/** Bus with one event loop: index, router and federation are the real ones. */
final class SimulatedBus implements Network.Host {
  private static final long MEMORY_BYTES = 1L << 30;

  private final int number;
  private final String name;
  private final SimulatedLoop loop;
  private final Simulator simulator;
  private final Router router;
  private final Map<String, RoutedSubscription> subscriptions = new HashMap<>();
  private final Inbox inbox = new Inbox();
  private final DrivenFederation.Opener opener;
  private final BusMemory memory = new BusMemory(MEMORY_BYTES);
  private final UnpooledByteBufAllocator buffers = new UnpooledByteBufAllocator(true);
  private long lastSubscription;
  final SubscriptionIndex index = new SubscriptionIndex(1);
  final BusRegistry registry = new BusRegistry(Consensus.nothing());
  final DrivenFederation federation;

  SimulatedBus(Simulator simulator, Network network, int number, FederationConfig config) {
    this.simulator = simulator;
    this.number = number;
    this.name = name(number);
    this.loop = new SimulatedLoop(simulator);
    this.federation =
        new DrivenFederation(
            config, new BusId(name), loop, index, memory, simulator::now, simulator.random(number));
    this.router =
        new Router(
            0,
            new OneLoop(),
            index,
            buffers,
            memory,
            new LoopStats(),
            federation.forwarder(),
            () -> {});
    this.opener =
        (address, channel, handler) ->
            network.open(this, numberOf(address.getHostString()), channel, handler);
  }

  private final class OneLoop implements Loops {
    @Override
    public int count() {
      return 1;
    }

    @Override
    public Executor executor(int number) {
      return loop;
    }

    @Override
    public void handOver(int number) {
      router.flush();
    }
  }

  static String name(int number) {
    return "bus-" + (1000 + number);
  }

  static int numberOf(String name) {
    return Integer.parseInt(name.substring("bus-".length())) - 1000;
  }

  void start() {
    loop.perform(() -> federation.start(router, opener, registry));
  }

  /** Ends, without waiting for anybody. */
  void end() {
    loop.perform(federation::end);
    loop.perform(router::close);
  }

  /**
   * Returns the bytes that are not released: none of a bus that has ended and has no connection.
   */
  long held() {
    return memory.used() + buffers.metric().usedHeapMemory() + buffers.metric().usedDirectMemory();
  }

  String name() {
    return name;
  }

  Inbox inbox() {
    return inbox;
  }

  void subscribe(String filter) {
    RoutedSubscription made =
        new RoutedSubscription(
            inbox, ++lastSubscription, TopicFilter.parse(filter), null, Overflow.BLOCK);
    if (subscriptions.putIfAbsent(filter, made) == null) {
      loop.perform(() -> index.add(made));
    }
  }

  void unsubscribe(String filter) {
    RoutedSubscription old = subscriptions.remove(filter);
    if (old != null) {
      loop.perform(() -> index.remove(old));
    }
  }

  /** Publishes an event as soon as the bus takes it. */
  void publish(String topic, long producer, long sequence) {
    loop.perform(() -> route(topic, producer, sequence));
  }

  private void route(String topic, long producer, long sequence) {
    ByteBuffer bytes = ByteBuffer.wrap(SampleFrames.publish(topic, sequence, false, "x"));
    PublishView view = SampleFrames.view(bytes);
    String problem = router.select(bytes, view);
    if (problem != null) {
      throw new IllegalArgumentException(problem);
    }
    boolean[] retried = {false};
    Runnable retry =
        () -> {
          if (!retried[0]) {
            retried[0] = true;
            loop.execute(() -> route(topic, producer, sequence));
          }
        };
    if (!router.mustWait(producer, retry)) {
      router.deliver(bytes, view, producer, simulator.now() / 1_000, simulator.now());
      router.flush();
    }
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public SimulatedLoop loop() {
    return loop;
  }

  @Override
  public ByteBufAllocator allocator() {
    return buffers;
  }

  @Override
  public LinkPeer self(String channel) {
    return new LinkPeer("simulated", "1", name, number + 1, channel);
  }

  @Override
  public ChannelHandler accept(LinkPeer from) {
    return federation.receiver(from);
  }
}
