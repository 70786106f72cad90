package io.eventbus.loadtest.driver.eventbus;

import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.SendResult;
import io.eventbus.client.Subscription;
import io.eventbus.client.WhenFull;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.switching.Client;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/** A client of the SDK that says where it is. */
final class MovingClient implements Client, ConnectionListener {
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final int NOWHERE = -1;

  private final String name;
  private final List<Integer> ports;
  private final AtomicLong connections = new AtomicLong();
  private final Queue<String> stayed = new ConcurrentLinkedQueue<>();
  private final AtomicLong disconnects = new AtomicLong();
  private final EventBusClient client;
  private volatile long arrivedAt;
  private volatile int bus = NOWHERE;

  /**
   * Connects.
   *
   * @throws DriverException if it cannot connect
   */
  MovingClient(String name, String url, List<Integer> ports) {
    this.name = name;
    this.ports = List.copyOf(ports);
    try {
      this.client =
          EventBusClient.builder()
              .url(url)
              .name(name)
              .whenFull(WhenFull.BLOCK)
              .listener(this)
              .connect();
      // The listener may not have been told yet.
      this.bus = ports.indexOf(URI.create(url).getPort());
    } catch (EventBusException e) {
      throw new DriverException(name + " cannot connect to " + url, e);
    }
  }

  @Override
  public void connected(ConnectionInfo connection) {
    arrived(connection);
  }

  @Override
  public void busChanged(ConnectionInfo before, ConnectionInfo now) {
    arrived(now);
  }

  private void arrived(ConnectionInfo connection) {
    arrivedAt = System.nanoTime();
    bus = ports.indexOf(connection.url().getPort());
    // Last: who sees the number sees where and when.
    connections.incrementAndGet();
  }

  @Override
  public void busChangeFailed(URI url, String why) {
    stayed.add(why);
  }

  @Override
  public void disconnected(int code, String reason, boolean willReconnect) {
    bus = NOWHERE;
    disconnects.incrementAndGet();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int bus() {
    return bus;
  }

  @Override
  public long arrivals() {
    return Math.max(0, connections.get() - 1);
  }

  @Override
  public long arrivedAt() {
    return arrivedAt;
  }

  @Override
  public List<String> stayed() {
    return List.copyOf(stayed);
  }

  @Override
  public long disconnects() {
    return disconnects.get();
  }

  @Override
  public void subscribe(String filter, Driver.Receiver receiver) {
    Subscription subscription =
        client.subscribe(
            filter, event -> receiver.onEvent(event.payloadBuffer(), event.receivedAtMicros()));
    try {
      subscription.ready().toCompletableFuture().get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while subscribing to " + filter, e);
    } catch (ExecutionException | TimeoutException e) {
      throw new DriverException("no subscription to " + filter, e);
    }
  }

  @Override
  public void publish(String topic, byte[] payload) {
    try {
      SendResult result = client.send(topic, payload);
      if (!result.accepted()) {
        throw new DriverException("an event to " + topic + " was not taken: " + result);
      }
    } catch (EventBusException e) {
      throw new DriverException("an event to " + topic + " was not taken", e);
    }
  }

  @Override
  public void flush() {
    try {
      client.flush(DEADLINE);
    } catch (EventBusException e) {
      throw new DriverException(name + " could not be flushed", e);
    }
  }

  @Override
  public void close() {
    client.close(Duration.ZERO);
  }
}
