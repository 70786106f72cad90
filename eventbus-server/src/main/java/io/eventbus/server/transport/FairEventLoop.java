package io.eventbus.server.transport;

import io.eventbus.server.delivery.MeasuredTask;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Event loop that reads from its sockets after a bounded amount of work. Netty looks at the clock
 * after 64 tasks only, and each may deliver to thousands of subscribers. The order of the tasks
 * stays.
 */
final class FairEventLoop extends SingleThreadIoEventLoop {
  /** Bound on the time of tasks; Netty's default is a second. */
  private static final long MAX_TASK_MILLIS = 10;

  /** Work after which the sockets have their turn: about a millisecond. */
  static final int MAX_WORK = 4096;

  private int work;

  FairEventLoop(@Nullable IoEventLoopGroup parent, Executor executor, IoHandlerFactory io) {
    super(
        parent,
        executor,
        io,
        Integer.MAX_VALUE,
        RejectedExecutionHandlers.reject(),
        MAX_TASK_MILLIS);
  }

  @Override
  protected int runIo() {
    work = 0;
    return super.runIo();
  }

  /** Returns the next task; null if there is none, or if the sockets have their turn first. */
  @Override
  protected @Nullable Runnable pollTask() {
    if (work >= MAX_WORK) {
      return null;
    }
    Runnable task = super.pollTask();
    if (task instanceof MeasuredTask measured) {
      work += measured.work();
    }
    return task;
  }
}
