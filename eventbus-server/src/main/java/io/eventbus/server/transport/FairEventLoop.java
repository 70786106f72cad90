package io.eventbus.server.transport;

import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Event loop that looks at its sockets after a bounded time of tasks. Netty looks at the clock
 * after 64 tasks only, and each may deliver to hundreds of subscribers. The order of the tasks
 * stays.
 */
final class FairEventLoop extends SingleThreadIoEventLoop {
  /** Time of tasks after which the sockets have their turn. */
  static final long MAX_TASK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final LongSupplier clock;
  private long turnBegan;

  /**
   * Creates a loop.
   *
   * @param clock as {@link System#nanoTime}
   */
  FairEventLoop(
      @Nullable IoEventLoopGroup parent,
      Executor executor,
      IoHandlerFactory io,
      LongSupplier clock) {
    super(
        parent,
        executor,
        io,
        Integer.MAX_VALUE,
        RejectedExecutionHandlers.reject(),
        TimeUnit.NANOSECONDS.toMillis(MAX_TASK_NANOS));
    this.clock = clock;
    turnBegan = clock.getAsLong();
  }

  @Override
  protected int runIo() {
    int handled = super.runIo();
    turnBegan = clock.getAsLong();
    return handled;
  }

  /** Returns the next task; null if there is none, or if the sockets have their turn first. */
  @Override
  protected @Nullable Runnable pollTask() {
    boolean isOver = clock.getAsLong() - turnBegan >= MAX_TASK_NANOS && !isShuttingDown();
    return isOver ? null : super.pollTask();
  }
}
