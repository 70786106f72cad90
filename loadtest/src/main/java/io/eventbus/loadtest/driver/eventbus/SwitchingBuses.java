package io.eventbus.loadtest.driver.eventbus;

import io.eventbus.loadtest.switching.Buses;
import io.eventbus.loadtest.switching.Client;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Buses between which clients are moved. */
public final class SwitchingBuses implements Buses {
  private static final Duration CLOSE_TOGETHER = Duration.ofSeconds(10);

  private final BusCluster cluster;
  private final List<LoadTestBus> buses;
  private final Queue<MovingClient> clients = new ConcurrentLinkedQueue<>();

  private SwitchingBuses(BusCluster cluster) {
    this.cluster = cluster;
    this.buses = cluster.buses();
  }

  /**
   * Starts them, and waits until all are linked.
   *
   * @param settings keys of the buses' configuration, which come before what is chosen here
   */
  public static SwitchingBuses start(
      int count, List<String> jvmOptions, Map<String, String> settings) {
    Map<String, String> all = new LinkedHashMap<>();
    // Only what an experiment asks for moves clients.
    all.put("balance.enabled", "false");
    // Load generator and buses share the processors: that they are busy is no reason to refuse.
    all.put("balance.high-percent", "100");
    all.put("balance.low-percent", "99");
    // The most: clients that are moved there and back would soon be left where they are.
    all.put("balance.max-moves-per-minute", "8");
    all.putAll(settings);
    return new SwitchingBuses(BusCluster.start(count, jvmOptions, all));
  }

  @Override
  public Client connect(String name, int bus) {
    List<Integer> ports = buses.stream().map(b -> URI.create(b.url()).getPort()).toList();
    MovingClient client = new MovingClient(name, buses.get(bus).url(), ports);
    clients.add(client);
    return client;
  }

  @Override
  public void move(String client, int from, int to) {
    buses.get(from).admin().move(client, buses.get(to).name());
  }

  @Override
  public void drain(int bus, boolean on) {
    buses.get(bus).admin().drain(on);
    if (!on) {
      cluster.awaitTogether();
    }
  }

  @Override
  public void stop(int bus, Duration timeout) {
    buses.get(bus).stop(timeout);
  }

  @Override
  public void kill(int bus) {
    buses.get(bus).kill();
  }

  @Override
  public void start(int bus) {
    buses.get(bus).start();
    buses.get(bus).awaitListening();
    cluster.awaitTogether();
  }

  @Override
  public void close() {
    try {
      long end = System.nanoTime() + CLOSE_TOGETHER.toNanos();
      for (MovingClient client : clients) {
        if (System.nanoTime() < end) {
          client.close();
        }
      }
    } finally {
      cluster.close();
    }
  }
}
