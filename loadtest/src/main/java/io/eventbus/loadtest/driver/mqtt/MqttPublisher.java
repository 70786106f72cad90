package io.eventbus.loadtest.driver.mqtt;

import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.datatypes.MqttTopic;
import com.hivemq.client.mqtt.mqtt5.Mqtt5AsyncClient;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5Publish;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5PublishResult;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.workload.Workload;
import io.reactivex.disposables.Disposable;
import io.reactivex.processors.FlowableProcessor;
import io.reactivex.processors.UnicastProcessor;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Publishes through the client's reactive interface: one stream of messages for the connection's
 * whole life. It costs less than a call of the asynchronous one for each message.
 */
final class MqttPublisher implements Driver.Publisher {
  private static final Duration FLUSH = Duration.ofSeconds(10);
  private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  /** The client's stream has no bound of its own; without a window this one holds. */
  private static final int MAX_UNSENT = 64 * 1024;

  private final Mqtt5AsyncClient client;
  private final MqttTopic[] topics;
  private final FlowableProcessor<Mqtt5Publish> stream = UnicastProcessor.create();
  private final AtomicLong done = new AtomicLong();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final Disposable sending;
  private long published;

  MqttPublisher(Mqtt5AsyncClient client, Workload workload) {
    this.client = client;
    this.topics = new MqttTopic[workload.topics()];
    for (int i = 0; i < topics.length; i++) {
      topics[i] = MqttTopic.of(MqttSession.mqtt(Workload.topic(i)));
    }
    this.sending = client.toRx().publish(stream).subscribe(this::sent, failure::set);
  }

  private void sent(Mqtt5PublishResult result) {
    result.getError().ifPresent(failure::set);
    done.incrementAndGet();
  }

  @Override
  public void publish(int topic, byte[] payload) {
    stream.onNext(
        Mqtt5Publish.builder()
            .topic(topics[topic])
            .payload(payload)
            .qos(MqttQos.AT_MOST_ONCE)
            .build());
    published++;
    awaitUnsent(MAX_UNSENT);
  }

  @Override
  public void flush() {
    awaitUnsent(0);
  }

  private void awaitUnsent(int max) {
    if (published - done.get() <= max && failure.get() == null) {
      return;
    }
    long end = System.nanoTime() + FLUSH.toNanos();
    while (published - done.get() > max) {
      @Nullable Throwable failed = failure.get();
      if (failed != null) {
        throw new DriverException("an event was not sent", failed);
      }
      if (System.nanoTime() > end) {
        throw new DriverException(
            published - done.get() + " events were not sent within " + FLUSH.toSeconds() + " s");
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  @Override
  public void close() {
    sending.dispose();
    MqttSession.await("closing", client.disconnect());
  }
}
