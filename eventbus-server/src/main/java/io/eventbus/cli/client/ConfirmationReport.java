package io.eventbus.cli.client;

import io.eventbus.cli.console.Failures;
import io.eventbus.client.Published;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Counts what the bus confirms and keeps the first failure. Safe for use by several threads. */
public final class ConfirmationReport {
  private long asked;
  private long confirmed;
  private long failed;
  private long withoutReceivers;
  private @Nullable Throwable firstFailure;

  public void add(CompletionStage<Published> stage) {
    synchronized (this) {
      asked++;
    }
    stage.whenComplete(this::done);
  }

  private synchronized void done(Published published, @Nullable Throwable failure) {
    if (failure == null) {
      confirmed++;
      withoutReceivers += published.receivers() == 0 ? 1 : 0;
    } else {
      failed++;
      firstFailure = firstFailure == null ? Failures.unwrap(failure) : firstFailure;
    }
    notifyAll();
  }

  public synchronized long confirmed() {
    return confirmed;
  }

  /** Returns that all are confirmed, and how many events had no subscriber. */
  synchronized String summary() {
    if (withoutReceivers == 0) {
      return "all confirmed";
    }
    return withoutReceivers == confirmed
        ? "all confirmed; nobody was subscribed"
        : "all confirmed; nobody was subscribed to " + withoutReceivers + " of them";
  }

  /** Returns the number of events whose outcome is not known yet. */
  synchronized long open() {
    return asked - confirmed - failed;
  }

  public synchronized @Nullable Throwable firstFailure() {
    return firstFailure;
  }

  /** Waits until the fate of every event is known; false when that takes too long. */
  public synchronized boolean await(Duration timeout) throws InterruptedException {
    long deadline = System.nanoTime() + timeout.toNanos();
    while (open() > 0) {
      long left = (deadline - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return false;
      }
      wait(left);
    }
    return true;
  }
}
