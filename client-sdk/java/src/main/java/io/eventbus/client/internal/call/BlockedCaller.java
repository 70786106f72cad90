package io.eventbus.client.internal.call;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Response;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Thread that waits for the reply; the thread that reads the reply wakes it. */
final class BlockedCaller implements CallResult {
  private final Thread thread = Thread.currentThread();
  private volatile @Nullable Response response;
  private volatile @Nullable EventBusException failure;

  @Override
  public void succeed(Response answer) {
    response = answer;
    LockSupport.unpark(thread);
  }

  @Override
  public void fail(EventBusException why) {
    failure = why;
    LockSupport.unpark(thread);
  }

  /**
   * Waits until the request ends, by its own deadline at the latest.
   *
   * @param abandon is run if the thread is interrupted, and completes this
   */
  Response await(Runnable abandon) {
    boolean interrupted = false;
    while (true) {
      Response answer = response;
      EventBusException why = failure;
      if (answer != null || why != null) {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
        if (why != null) {
          throw why;
        }
        if (answer != null) {
          return answer;
        }
      }
      LockSupport.park(this);
      if (Thread.interrupted()) {
        interrupted = true;
        abandon.run();
      }
    }
  }
}
