package io.eventbus.client.internal;

import java.nio.ByteBuffer;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that sends: takes messages from the {@link Outbox}, one at a time, and has at most one
 * under way. While it is busy, events collect; when it is idle, an event leaves at once. That is
 * all the batching there is.
 *
 * <p>It is a thread of its own because a send often completes in the call that starts it: were
 * publishers to send themselves, they would send every event alone.
 */
final class Sender implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Sender.class);

  private final Outbox outbox;
  private final MicroClock clock;
  private final long sendTimeoutNanos;
  private final Thread thread;

  private volatile Transport.@Nullable Channel channel;
  private volatile boolean signalled;
  private volatile boolean stopped;

  Sender(Outbox outbox, MicroClock clock, long sendTimeoutNanos, String threadName) {
    this.outbox = outbox;
    this.clock = clock;
    this.sendTimeoutNanos = sendTimeoutNanos;
    this.thread = new Thread(this, threadName);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Any thread: there is something to send. */
  void wake() {
    signalled = true;
    LockSupport.unpark(thread);
  }

  /** Sends over this connection from now on; null for none. */
  void use(Transport.@Nullable Channel next) {
    channel = next;
    wake();
  }

  void stop() {
    stopped = true;
    wake();
  }

  @Override
  public void run() {
    while (!stopped) {
      signalled = false;
      Transport.Channel current = channel;
      ByteBuffer message = current == null ? null : outbox.next();
      if (current == null || message == null) {
        while (!signalled) {
          LockSupport.park(this);
        }
      } else {
        send(current, message);
      }
    }
  }

  private void send(Transport.Channel current, ByteBuffer message) {
    Completion completion = new Completion(thread);
    long deadline = clock.nanoTime() + sendTimeoutNanos;
    try {
      current.send(message, completion);
    } catch (RuntimeException e) {
      completion.onSent(e);
    }
    while (!completion.done) {
      long left = deadline - clock.nanoTime();
      if (left <= 0) {
        LOG.warn(
            "a message was not sent within {} ms: closing the connection",
            sendTimeoutNanos / 1_000_000);
        current.abort();
        awaitChange(current);
        return;
      }
      if (channel != current || stopped) {
        return;
      }
      LockSupport.parkNanos(this, left);
    }
    if (channel != current) {
      // The outbox has dealt with the message as one of a lost connection.
      return;
    }
    if (completion.failure == null) {
      outbox.sent();
    } else {
      LOG.debug("sending failed: closing the connection", completion.failure);
      current.abort();
      awaitChange(current);
    }
  }

  /** Nothing goes over a broken connection: waits for the conductor to take it away. */
  private void awaitChange(Transport.Channel broken) {
    while (channel == broken && !stopped) {
      LockSupport.park(this);
    }
  }

  /** The end of one send, told by any thread. */
  private static final class Completion implements Transport.SendCallback {
    private final Thread waiter;
    private volatile @Nullable Throwable failure;
    private volatile boolean done;

    Completion(Thread waiter) {
      this.waiter = waiter;
    }

    @Override
    public void onSent(@Nullable Throwable cause) {
      failure = cause;
      done = true;
      LockSupport.unpark(waiter);
    }
  }
}
