package io.eventbus.conformance.sdk;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.client.DurableHandler;
import io.eventbus.client.EventHandler;
import io.eventbus.client.Interruption;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Truncated;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Handler of a subscription or consumer that can be stalled. */
final class SdkSubscriber implements EventHandler, DurableHandler {
  private final Output out;
  private final String client;
  private final String name;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition goesOn = lock.newCondition();
  private boolean paused;
  private volatile boolean ended;
  volatile @Nullable Supplier<CompletionStage<Void>> unsubscribe;

  SdkSubscriber(Output out, String client, String name) {
    this.out = out;
    this.client = client;
    this.name = name;
  }

  void pause(boolean pause) {
    lock.lock();
    try {
      paused = pause && !ended;
      goesOn.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Reports nothing more, and releases a stalled handler. */
  void end() {
    ended = true;
    pause(false);
  }

  @Override
  public void onInterruption(Interruption interruption) {
    if (!ended) {
      ObjectNode line = out.event("interruption", client).put("subscription", name);
      line.put("from", micros(interruption.from())).put("to", micros(interruption.to()));
      out.write(line);
    }
  }

  @Override
  public void onTruncated(Truncated truncated) {
    if (!ended) {
      ObjectNode line = out.event("truncated", client).put("subscription", name);
      line.put("from", truncated.from()).put("to", truncated.to());
      out.write(line.put("reason", truncated.reason().name()));
    }
  }

  private static long micros(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }

  @Override
  public void onEvent(ReceivedEvent event) throws InterruptedException {
    if (ended) {
      return;
    }
    ObjectNode line = out.event("received", client).put("subscription", name);
    line.put("topic", event.topic()).put("producer", Long.toString(event.producer()));
    line.put("sequence", event.sequence()).put("payload", event.payload()).put("key", event.key());
    ObjectNode headers = line.putObject("headers");
    event.headers().forEach(headers::put);
    line.put("publishedAt", event.publishedAtMicros()).put("receivedAt", event.receivedAtMicros());
    line.put("position", event.position());
    out.write(line.put("schema", Long.toString(event.schema())));
    lock.lockInterruptibly();
    try {
      while (paused) {
        goesOn.await();
      }
    } finally {
      lock.unlock();
    }
  }
}
