package io.eventbus.loadtest.driver.mqtt;

import com.hivemq.client.mqtt.MqttClient;
import com.hivemq.client.mqtt.MqttWebSocketConfig;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt5.Mqtt5AsyncClient;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5Publish;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.IdleHandshake;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.workload.Workload;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A broker that runs, and a client of HiveMQ's library for each publisher and subscriber. */
final class MqttSession implements Driver.Session {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final Duration CLOSE_TOGETHER = Duration.ofSeconds(5);
  private static final int CONNACK = 0x20;
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final ServerProcess process;
  private final int port;
  private final Workload workload;
  private final Queue<Mqtt5AsyncClient> clients = new ConcurrentLinkedQueue<>();

  MqttSession(ServerProcess process, int port, Workload workload) {
    this.process = process;
    this.port = port;
    this.workload = workload;
  }

  @Override
  public List<Long> serverPids() {
    return List.of(process.pid());
  }

  @Override
  public Driver.Publisher publisher(int number) {
    return new MqttPublisher(connect("publisher-" + number), workload);
  }

  @Override
  public Driver.Subscriber subscriber(int number, String filter, Driver.Receiver receiver) {
    Mqtt5AsyncClient client = connect("subscriber-" + number);
    await(
        "subscribing to " + filter,
        client
            .subscribeWith()
            .topicFilter(mqtt(filter))
            .qos(MqttQos.AT_MOST_ONCE)
            .callback(message -> receiver.onEvent(payload(message)))
            .send());
    return new MqttSubscriber(client);
  }

  @Override
  public IdleHandshake idleHandshake() {
    // CONNECT: protocol MQTT, version 5, clean start, no keep-alive, no properties, no client id.
    byte[] greeting = {0x10, 13, 0, 4, 'M', 'Q', 'T', 'T', 5, 2, 0, 0, 0, 0, 0};
    return new IdleHandshake(
        port, "/mqtt", "mqtt", ByteBuffer.wrap(greeting), IdleHandshake.firstByte(CONNACK));
  }

  /** MQTT separates levels with {@code /} and writes {@code +} and {@code #}. */
  static String mqtt(String filter) {
    return filter.replace('.', '/').replace('*', '+').replace('>', '#');
  }

  private static ByteBuffer payload(Mqtt5Publish message) {
    return message.getPayload().orElse(NOTHING);
  }

  private Mqtt5AsyncClient connect(String name) {
    Mqtt5AsyncClient client =
        MqttClient.builder()
            .useMqttVersion5()
            .identifier(name)
            .serverHost("127.0.0.1")
            .serverPort(port)
            .webSocketConfig(
                MqttWebSocketConfig.builder().serverPath("mqtt").subprotocol("mqtt").build())
            .buildAsync();
    await("connecting", client.connectWith().cleanStart(true).send());
    clients.add(client);
    return client;
  }

  static void await(String doing, CompletableFuture<?> future) {
    try {
      future.get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while " + doing, e);
    } catch (ExecutionException | TimeoutException e) {
      throw new DriverException("no answer while " + doing, e);
    }
  }

  @Override
  public void close() {
    try {
      long end = System.nanoTime() + CLOSE_TOGETHER.toNanos();
      CompletableFuture<?>[] all =
          clients.stream().map(Mqtt5AsyncClient::disconnect).toArray(CompletableFuture<?>[]::new);
      CompletableFuture.allOf(all)
          .completeOnTimeout(null, Math.max(1, end - System.nanoTime()), TimeUnit.NANOSECONDS)
          .exceptionally(gone -> null)
          .join();
    } finally {
      process.close();
    }
  }

  private record MqttSubscriber(Mqtt5AsyncClient client) implements Driver.Subscriber {
    @Override
    public long reportedLost() {
      return 0;
    }

    @Override
    public void close() {
      MqttSession.await("closing", client.disconnect());
    }
  }
}
