package io.eventbus.server.federation;

import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Promise that is kept when all its parts are, and broken at the first one that fails. Confined to
 * a loop.
 */
final class CountdownPromise {
  private final Consumer<Boolean> done;
  private int left;
  private boolean over;
  private @Nullable Future<?> timer;

  CountdownPromise(int parts, Consumer<Boolean> done) {
    this.left = parts;
    this.done = done;
  }

  void until(Future<?> deadline) {
    if (over) {
      deadline.cancel(false);
    } else {
      timer = deadline;
    }
  }

  void part() {
    if (!over && --left == 0) {
      end(true);
    }
  }

  /** Breaks the promise; returns whether it was neither kept nor broken before. */
  boolean fail() {
    if (over) {
      return false;
    }
    end(false);
    return true;
  }

  private void end(boolean kept) {
    over = true;
    Future<?> running = timer;
    if (running != null) {
      running.cancel(false);
    }
    done.accept(kept);
  }
}
