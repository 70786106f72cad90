package io.eventbus.client.internal.durable;

import io.eventbus.client.WorkHandler;
import io.eventbus.client.Worker;
import io.eventbus.client.WorkerBuilder;
import io.eventbus.schema.ConsumeMode;
import java.time.Duration;
import java.util.Objects;

/** Settings of a worker that is being built. For one thread. */
final class WorkerRequest implements WorkerBuilder {
  private static final Duration MIN_ACK_TIMEOUT = Duration.ofSeconds(1);
  private static final Duration MAX_ACK_TIMEOUT = Duration.ofHours(12);

  private final DurableRequest consumer;
  private final ConsumeMode mode;
  private final DurableRequest.Begin begin;
  private int maxUnsettled = 256;
  private Duration ackTimeout = Duration.ofSeconds(30);
  private int maxAttempts = 10;
  private int concurrency = 1;

  WorkerRequest(DurableRequest consumer, ConsumeMode mode, DurableRequest.Begin begin) {
    this.consumer = consumer;
    this.mode = mode;
    this.begin = begin;
  }

  @Override
  public WorkerBuilder maxUnsettled(int events) {
    maxUnsettled = checked("maxUnsettled", events, 1024);
    return this;
  }

  @Override
  public WorkerBuilder ackTimeout(Duration timeout) {
    if (timeout.compareTo(MIN_ACK_TIMEOUT) < 0 || timeout.compareTo(MAX_ACK_TIMEOUT) > 0) {
      throw new IllegalArgumentException(
          "ackTimeout: "
              + timeout
              + " (expected: "
              + MIN_ACK_TIMEOUT
              + ".."
              + MAX_ACK_TIMEOUT
              + ")");
    }
    ackTimeout = timeout;
    return this;
  }

  @Override
  public WorkerBuilder maxAttempts(int deliveries) {
    maxAttempts = checked("maxAttempts", deliveries, 1000);
    return this;
  }

  @Override
  public WorkerBuilder concurrency(int handlers) {
    concurrency = checked("concurrency", handlers, 1000);
    return this;
  }

  private static int checked(String name, int value, int max) {
    if (value < 1 || value > max) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: 1.." + max + ")");
    }
    return value;
  }

  @Override
  public Worker handler(WorkHandler handler) {
    Objects.requireNonNull(handler, "handler");
    return begin.worker(
        new WorkerState.Settings(
            consumer.settings(), mode, maxUnsettled, ackTimeout, maxAttempts, concurrency),
        handler);
  }
}
