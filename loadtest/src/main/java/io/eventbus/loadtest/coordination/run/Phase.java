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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

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
  private final AtomicReference<@Nullable Throwable> broken = new AtomicReference<>();
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
                } catch (Throwable e) {
                  broken.compareAndSet(null, e);
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
        slot.failed(e);
        recorder.error(e.kind());
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
    recorder.unfinished(begun, System.nanoTime());
  }

  /** Starts the slots, whose next commands leave on the threads that bring the answers. */
  void startPipelines() {
    for (int i = 0; i < slots.size(); i++) {
      new Pipeline(slots.get(i), recorders.get(i)).turn();
    }
  }

  /**
   * One slot. A turn that comes while another one goes on, because an answer is there at once or on
   * another thread meanwhile, is left to that one: the stack does not grow.
   */
  private final class Pipeline {
    private final Slot slot;
    private final SlotRecorder recorder;
    private final AtomicInteger turns = new AtomicInteger();
    // Handed from turn to turn by the counter.
    private long begun = System.nanoTime();

    Pipeline(Slot slot, SlotRecorder recorder) {
      this.slot = slot;
      this.recorder = recorder;
    }

    /** Makes the next command, or ends; any thread. */
    void turn() {
      if (turns.getAndIncrement() > 0) {
        return;
      }
      do {
        try {
          sendOrEnd();
        } catch (Throwable e) {
          died(e);
        }
      } while (turns.decrementAndGet() > 0);
    }

    // The end of each pipeline is waited for by the latch.
    @SuppressWarnings("FutureReturnValueIgnored")
    private void sendOrEnd() {
      if (recorder.isOver(System.nanoTime())) {
        recorder.unfinished(begun, System.nanoTime());
        running.countDown();
      } else {
        slot.client()
            .writeLater(slot.next())
            .whenComplete(
                (nothing, error) -> {
                  try {
                    answered(error);
                  } catch (Throwable e) {
                    died(e);
                  }
                });
      }
    }

    private void answered(@Nullable Throwable error) {
      if (error == null) {
        long now = System.nanoTime();
        slot.acknowledged();
        recorder.success(begun, now);
        begun = now;
        turn();
        return;
      }
      Throwable cause =
          error instanceof CompletionException && error.getCause() != null
              ? error.getCause()
              : error;
      if (cause instanceof CoordinationException known) {
        slot.failed(known);
        recorder.error(known.kind());
        later.execute(this::turn);
      } else {
        died(cause);
      }
    }
  }

  private void died(Throwable error) {
    broken.compareAndSet(null, error);
    running.countDown();
  }

  /**
   * Waits until every slot has its last answer.
   *
   * @throws CoordinationException if that does not come, or if a client has died of another error
   *     than those of its system
   */
  void await() throws InterruptedException {
    if (!running.await(length.plus(SPARE).toMillis(), TimeUnit.MILLISECONDS)) {
      throw new CoordinationException(
          "end", running.getCount() + " clients did not come to an end");
    }
    Throwable first = broken.get();
    if (first != null) {
      throw new CoordinationException("client died", new IllegalStateException(first));
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
