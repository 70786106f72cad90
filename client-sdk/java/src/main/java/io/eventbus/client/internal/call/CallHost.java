package io.eventbus.client.internal.call;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Invocation;

/** What calls need of the client around them. Any thread may call any method; none blocks. */
public interface CallHost {
  /** Nanoseconds from an arbitrary start, never going back. */
  long nanoTime();

  /** A random number, from 0 (inclusive) to 1 (exclusive). */
  double random();

  /**
   * Runs a task on the conductor after a delay.
   *
   * @return what makes sure that the task does not run, unless it does already
   */
  Runnable schedule(Runnable task, long delayNanos);

  /** Runs handlers. Throws what the application's executor throws. */
  void handle(Runnable task);

  /** Tells the application of an answer, on its executor. */
  void complete(Runnable completion);

  /** Tells the application of a failure, also when its executor runs nothing. */
  void fail(Runnable completion);

  /**
   * Checks an event against the limits of the bus, and encodes it.
   *
   * @throws EventBusException.PayloadTooBig if it is over one
   */
  Body encode(Event event);

  /**
   * Sends a frame; it is forgotten if its connection has ended, or if it goes over any and there is
   * none.
   *
   * @param here whether the calling thread may send it; it holds no lock then
   */
  void send(CallFrame frame, boolean here);

  /** Says whether answers may be added to those that wait to be sent. */
  boolean hasRoom();

  /** The handler of a service has failed. */
  void handlerFailed(Invocation invocation, Throwable failure);

  /** Something went wrong that no call waits for. */
  void problem(EventBusException problem);
}
