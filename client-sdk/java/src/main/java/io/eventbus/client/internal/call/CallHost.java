package io.eventbus.client.internal.call;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Invocation;

/** Environment of calls in their client. Any thread may call any method; none blocks. */
public interface CallHost {
  /** Returns nanoseconds from an arbitrary start, never going back. */
  long nanoTime();

  /** Returns a random number, from 0 (inclusive) to 1 (exclusive). */
  double random();

  /**
   * Runs a task on the conductor after a delay; returns a task that cancels it, unless it runs
   * already.
   */
  Runnable schedule(Runnable task, long delayNanos);

  /** Runs handlers. Throws what the application's executor throws. */
  void handle(Runnable task);

  /** Runs a task that completes an application's stage with a reply, on its executor. */
  void complete(Runnable completion);

  /** Runs a task that fails an application's stage, also when its executor runs nothing. */
  void fail(Runnable completion);

  /**
   * Checks an event against the limits of the bus, and encodes it.
   *
   * @throws EventBusException.PayloadTooBig if it exceeds one
   */
  Body encode(Event event);

  /**
   * Sends a frame; drops it if its connection has ended, or if it goes over any and there is none.
   *
   * @param here whether the calling thread may send it; it holds no lock then
   */
  void send(CallFrame frame, boolean here);

  /** Returns whether replies may be added to those that wait to be sent. */
  boolean hasRoom();

  /** Called when the handler of a service has failed. */
  void handlerFailed(Invocation invocation, Throwable failure);

  /** Called for an error that no call waits for. */
  void problem(EventBusException problem);
}
