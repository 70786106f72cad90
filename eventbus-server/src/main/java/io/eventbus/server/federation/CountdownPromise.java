package io.eventbus.server.federation;

import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Something that is kept when all its parts are, and broken once one of them is. One loop. */
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

  /** Returns whether it was neither kept nor broken before. */
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
