package io.eventbus.loadtest;

import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.coordination.etcd.EtcdSystem;
import io.eventbus.loadtest.coordination.eventbus.EventBusRegistry;
import io.eventbus.loadtest.coordination.run.CoordinationDriver;
import io.eventbus.loadtest.coordination.zookeeper.ZooKeeperSystem;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.eventbus.EventBusDriver;
import io.eventbus.loadtest.driver.kafka.KafkaDriver;
import io.eventbus.loadtest.driver.mqtt.ArtemisDriver;
import io.eventbus.loadtest.driver.mqtt.MosquittoDriver;
import io.eventbus.loadtest.driver.nats.JetStreamDriver;
import io.eventbus.loadtest.driver.nats.NatsDriver;
import io.eventbus.loadtest.driver.nats.NatsGoDriver;
import io.eventbus.loadtest.driver.rabbitmq.RabbitMqDriver;
import io.eventbus.loadtest.driver.tyruspaper.TyrusPaperDriver;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The systems that can be measured, by name. */
final class Drivers {
  private final Map<String, Function<List<String>, Driver>> byName = new LinkedHashMap<>();

  Drivers() {
    byName.put("eventbus", EventBusDriver::new);
    byName.put("nats", options -> new NatsDriver(NatsDriver.Transport.WEB_SOCKET));
    byName.put("nats-tcp", options -> new NatsDriver(NatsDriver.Transport.TCP));
    byName.put("nats-nio", options -> new NatsDriver(NatsDriver.Transport.SHARED_THREAD));
    byName.put("jetstream", options -> new JetStreamDriver(JetStreamDriver.Sync.DEFAULT));
    byName.put("jetstream-always", options -> new JetStreamDriver(JetStreamDriver.Sync.ALWAYS));
    byName.put("kafka", options -> new KafkaDriver(KafkaDriver.Sync.DEFAULT, options));
    byName.put("kafka-flush", options -> new KafkaDriver(KafkaDriver.Sync.FLUSH, options));
    byName.put("rabbitmq", options -> new RabbitMqDriver());
    byName.put("nats-go", options -> new NatsGoDriver());
    byName.put("tyrus-paper", TyrusPaperDriver::new);
    byName.put("mosquitto", options -> new MosquittoDriver());
    byName.put("artemis", ArtemisDriver::new);
    byName.put(
        "registry", options -> coordination("registry", new EventBusRegistry(quiet(options))));
    byName.put(
        "zookeeper", options -> coordination("zookeeper", new ZooKeeperSystem(quiet(options))));
    byName.put("etcd", options -> coordination("etcd", new EtcdSystem()));
  }

  private static Driver coordination(String name, CoordinationSystem system) {
    return new CoordinationDriver(name, system);
  }

  /** Has servers on a JVM log warnings only; without a configuration logback writes everything. */
  private static List<String> quiet(List<String> serverJvm) {
    return Stream.concat(
            serverJvm.stream(), Stream.of("-Dlogback.configurationFile=loadtest-logback.xml"))
        .toList();
  }

  /** Adds a system, or replaces one. */
  void add(String name, Function<List<String>, Driver> factory) {
    byName.put(name, factory);
  }

  List<String> names() {
    return List.copyOf(byName.keySet());
  }

  /**
   * Creates a driver.
   *
   * @throws IllegalArgumentException if there is none of that name
   */
  Driver create(String name, List<String> serverJvm) {
    @Nullable Function<List<String>, Driver> factory = byName.get(name);
    if (factory == null) {
      throw new IllegalArgumentException(
          "driver: " + name + " (expected: " + String.join(", ", names()) + ")");
    }
    return factory.apply(serverJvm);
  }
}
