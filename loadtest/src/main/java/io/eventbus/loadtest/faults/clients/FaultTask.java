package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.EventBusException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Client in a thread of its own, which goes on until it is stopped. A failure of its connection
 * begins its work anew.
 */
public abstract class FaultTask {
  private static final long AFTER_FAILURE_MILLIS = 200;

  private final String name;
  private final Recorder recorder;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final Thread thread;

  FaultTask(String name, Recorder recorder) {
    this.name = name;
    this.recorder = recorder;
    thread = new Thread(this::run, name);
    thread.setDaemon(true);
  }

  /** Starts the thread. */
  public void start() {
    thread.start();
  }

  private void run() {
    try {
      while (!isStopped()) {
        try {
          work();
        } catch (EventBusException e) {
          // Not connected in time, or ended for good: that is no fault of a promise.
          pause(AFTER_FAILURE_MILLIS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      recorder.problem(name + " ended: " + e);
    }
  }

  /**
   * Works until the task is stopped.
   *
   * @throws EventBusException to begin anew
   */
  abstract void work() throws InterruptedException;

  final boolean isStopped() {
    return stop.getCount() == 0;
  }

  /** Waits, unless the task is stopped. */
  final void pause(long millis) throws InterruptedException {
    var unused = stop.await(millis, TimeUnit.MILLISECONDS);
  }

  final Recorder recorder() {
    return recorder;
  }

  /** Returns its name. */
  public final String name() {
    return name;
  }

  /** Asks it to end what it does; any thread. */
  public final void stop() {
    stop.countDown();
  }

  /**
   * Waits until it has ended.
   *
   * @return false if it has not after the deadline
   */
  public final boolean join(Duration deadline) throws InterruptedException {
    thread.join(Math.max(1, deadline.toMillis()));
    return !thread.isAlive();
  }
}
