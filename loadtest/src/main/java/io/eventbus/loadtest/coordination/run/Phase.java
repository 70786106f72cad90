package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Closed loops for a while: each slot has one command in flight and makes the next when it is
 * answered; what fails is repeated after a short pause.
 */
final class Phase {
  /** One operation, until it succeeds or fails with an exception. */
  interface Step {
    void perform(Slot slot, SlotRecorder recorder);
  }

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final Duration SPARE = Duration.ofSeconds(15);

  private final Executor later =
      CompletableFuture.delayedExecutor(PAUSE_NANOS, TimeUnit.NANOSECONDS);
  private final List<Slot> slots;
  private final Duration length;
  private final List<SlotRecorder> recorders = new ArrayList<>();
  private final CountDownLatch running;
  private final long start;
  final Timeline timeline;

  Phase(List<Slot> slots, Duration length) {
    this.slots = slots;
    this.length = length;
    this.running = new CountDownLatch(slots.size());
    this.start = System.nanoTime();
    this.timeline = new Timeline(start, length);
    for (int i = 0; i < slots.size(); i++) {
      recorders.add(new SlotRecorder(timeline, start, start + length.toNanos()));
    }
  }

  static void write(Slot slot, SlotRecorder recorder) {
    slot.client().write(slot.next());
    slot.acknowledged();
  }

  List<SlotRecorder> recorders() {
    return recorders;
  }

  /** Starts a thread for each slot, which waits for every answer. */
  void startThreads(Step step) {
    for (int i = 0; i < slots.size(); i++) {
      Slot slot = slots.get(i);
      SlotRecorder recorder = recorders.get(i);
      Thread thread =
          new Thread(
              () -> {
                try {
                  loop(step, slot, recorder);
                } finally {
                  running.countDown();
                }
              },
              "client-" + i);
      thread.setDaemon(true);
      thread.start();
    }
  }

  private static void loop(Step step, Slot slot, SlotRecorder recorder) {
    long begun = System.nanoTime();
    while (!recorder.isOver(System.nanoTime())) {
      try {
        step.perform(slot, recorder);
        long now = System.nanoTime();
        recorder.success(begun, now);
        begun = now;
      } catch (CoordinationException e) {
        slot.failed();
        recorder.error(e.kind());
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  /** Starts the slots, whose next commands leave on the threads that bring the answers. */
  void startPipelines() {
    for (int i = 0; i < slots.size(); i++) {
      pipeline(slots.get(i), recorders.get(i), System.nanoTime());
    }
  }

  // The end of each pipeline is waited for by the latch.
  @SuppressWarnings("FutureReturnValueIgnored")
  private void pipeline(Slot slot, SlotRecorder recorder, long begun) {
    if (recorder.isOver(System.nanoTime())) {
      running.countDown();
      return;
    }
    slot.client()
        .writeLater(slot.next())
        .whenComplete(
            (nothing, error) -> {
              long now = System.nanoTime();
              if (error == null) {
                slot.acknowledged();
                recorder.success(begun, now);
                pipeline(slot, recorder, now);
              } else {
                slot.failed();
                recorder.error(kind(error));
                later.execute(() -> pipeline(slot, recorder, begun));
              }
            });
  }

  private static String kind(Throwable error) {
    Throwable cause =
        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    return cause instanceof CoordinationException known ? known.kind() : "other";
  }

  /** Waits until every slot has its last answer. */
  void await() throws InterruptedException {
    if (!running.await(length.plus(SPARE).toMillis(), TimeUnit.MILLISECONDS)) {
      throw new CoordinationException(
          "end", running.getCount() + " clients did not come to an end");
    }
  }

  /** Waits until so much of the phase has passed. */
  void awaitTime(Duration at) {
    long left = start + at.toNanos() - System.nanoTime();
    while (left > 0) {
      LockSupport.parkNanos(left);
      left = start + at.toNanos() - System.nanoTime();
    }
  }
}
