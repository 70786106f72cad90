package io.eventbus.client.internal;

import io.eventbus.client.EventBusException;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The questions "has all that I published arrived?" that the bus has not answered. They are asked
 * again on every new connection. Any thread may use it.
 */
final class Barriers {
  private final Outbox outbox;
  private final Notifier notifier;
  private final Map<Long, Pending> pending = new LinkedHashMap<>();
  private long nextId = 1;
  private @Nullable EventBusException closed;

  private record Pending(CompletableFuture<Void> stage, long createdNanos) {}

  Barriers(Outbox outbox, Notifier notifier) {
    this.outbox = outbox;
    this.notifier = notifier;
  }

  synchronized CompletableFuture<Void> ask(long nowNanos) {
    EventBusException end = closed;
    if (end != null) {
      return CompletableFuture.failedFuture(end);
    }
    CompletableFuture<Void> stage = new CompletableFuture<>();
    long id = nextId++;
    pending.put(id, new Pending(stage, nowNanos));
    outbox.addBarrier(frame(id), id);
    return stage;
  }

  private static byte[] frame(long id) {
    return ControlFrames.encode(TypeCode.BARRIER, new Barrier(id));
  }

  /** A connection is ready; what is to be sent again is queued already. */
  synchronized void connected() {
    pending.keySet().forEach(id -> outbox.addBarrier(frame(id), id));
  }

  synchronized void echoed(long id) {
    Pending answered = pending.remove(id);
    if (answered != null) {
      notifier.complete(() -> answered.stage.complete(null));
    }
  }

  synchronized boolean refused(long id, EventBusException failure) {
    Pending answered = pending.remove(id);
    if (answered != null) {
      notifier.complete(() -> answered.stage.completeExceptionally(failure));
    }
    return answered != null;
  }

  synchronized void expire(long bornBefore, EventBusException failure) {
    List<Long> late = new ArrayList<>();
    pending.forEach(
        (id, question) -> {
          if (question.createdNanos - bornBefore <= 0) {
            late.add(id);
          }
        });
    late.forEach(id -> refused(id, failure));
  }

  synchronized void close(EventBusException failure) {
    closed = failure;
    new ArrayList<>(pending.keySet()).forEach(id -> refused(id, failure));
  }
}
