package io.eventbus.client.internal.outbound;

import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Transport;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sender of messages from the {@link Outbox}: takes one at a time, and has at most one under way.
 * While it is busy, events collect; when it is idle, an event leaves at once. That is all the
 * batching there is.
 *
 * <p>It runs on threads that all clients share, and never waits there: when the network does not
 * accept a message at once it returns, and the end of the send starts it again. An event that comes
 * alone, a while after the one before it, is sent in its publisher's thread: that saves waking
 * another thread, which takes longer than the send. Events that come close together are not,
 * because a send often completes in the call that starts it: were publishers to send themselves,
 * they would send every event alone. {@link #wake} may be called at any time: a run that has just
 * ended begins again, so that no event is left behind.
 */
public final class Sender implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Sender.class);

  /** Number of messages after which the senders of other clients get their turn. */
  private static final int MAX_MESSAGES_PER_RUN = 64;

  /**
   * Time since the end of the last send after which an event counts as alone: a few times the
   * duration of a send.
   */
  private static final long MIN_IDLE_NANOS = 50_000;

  /** Number of messages that a publisher's thread sends: its own, and once what came meanwhile. */
  private static final int MAX_PUBLISHER_MESSAGES = 2;

  private final Outbox outbox;
  private final MicroClock clock;
  private final long sendTimeoutNanos;
  private final Executor executor;
  private final AtomicInteger pending = new AtomicInteger();

  private volatile Transport.@Nullable Channel channel;
  private volatile boolean stopped;
  private volatile @Nullable Sending underWay;
  // Confined to the running task. Nothing goes over a connection that is broken.
  private Transport.@Nullable Channel broken;
  private long lastSentAt;

  public Sender(Outbox outbox, MicroClock clock, long sendTimeoutNanos, Executor executor) {
    this.outbox = outbox;
    this.clock = clock;
    this.sendTimeoutNanos = sendTimeoutNanos;
    this.executor = executor;
    this.lastSentAt = clock.nanoTime() - MIN_IDLE_NANOS;
  }

  /** Wakes the sender: there is something to send, or to look at. Any thread. */
  public void wake() {
    if (pending.getAndIncrement() == 0) {
      start();
    }
  }

  /** Wakes the sender for an event, on a publisher's thread that holds no lock of this client. */
  public void wakeForEvent() {
    if (pending.getAndIncrement() == 0) {
      if (clock.nanoTime() - lastSentAt >= MIN_IDLE_NANOS) {
        try {
          sendHere();
        } catch (Error e) {
          // A publisher's stack may be nearly used up: another thread goes on.
          start();
          throw e;
        }
      } else {
        start();
      }
    }
  }

  private void start() {
    try {
      executor.execute(this);
    } catch (RejectedExecutionException e) {
      LOG.trace("the last client is closed: nothing is sent any more", e);
    }
  }

  /** Sends over this connection from now on; null for none. */
  public void use(Transport.@Nullable Channel next) {
    channel = next;
    wake();
  }

  public void stop() {
    stopped = true;
  }

  /** Ends a connection whose network accepts nothing; to be called from time to time. */
  public void lookForTimeout() {
    Sending sending = underWay;
    if (sending != null
        && !sending.done
        && sending.over == channel
        && clock.nanoTime() - sending.startedAt > sendTimeoutNanos) {
      LOG.warn(
          "a message was not sent within {} ms: closing the connection",
          sendTimeoutNanos / 1_000_000);
      sending.over.abort();
    }
  }

  /**
   * Sends what there is now in the publisher's thread; what comes meanwhile is left to another
   * thread.
   */
  private void sendHere() {
    int seen = pending.get();
    // Twice, because the end of a send is counted, too.
    for (int i = 0; i < 2; i++) {
      if (sendSome(MAX_PUBLISHER_MESSAGES)) {
        break;
      }
      seen = pending.addAndGet(-seen);
      if (seen == 0) {
        return;
      }
    }
    // Still counted as pending, so that no other run starts.
    start();
  }

  @Override
  public void run() {
    int seen = pending.get();
    while (true) {
      if (sendSome(MAX_MESSAGES_PER_RUN)) {
        // Still counted as pending, so that no other run starts.
        start();
        return;
      }
      seen = pending.addAndGet(-seen);
      if (seen == 0) {
        return;
      }
    }
  }

  /** Sends until there is nothing, or the network is busy; returns true if there may be more. */
  private boolean sendSome(int maxMessages) {
    for (int i = 0; i < maxMessages; i++) {
      Sending last = underWay;
      if (last != null && !settle(last)) {
        return false;
      }
      Transport.Channel current = channel;
      if (stopped || current == null || current == broken) {
        return false;
      }
      ByteBuffer message = outbox.next(current);
      if (message == null) {
        return false;
      }
      send(current, message);
    }
    return true;
  }

  private void send(Transport.Channel current, ByteBuffer message) {
    Sending sending = new Sending(current, clock.nanoTime());
    underWay = sending;
    try {
      current.send(message, sending);
    } catch (RuntimeException e) {
      sending.onSent(e);
    } catch (Error e) {
      sending.onSent(e);
      throw e;
    } finally {
      lastSentAt = clock.nanoTime();
    }
  }

  /** Returns whether a send has ended, and records its result. */
  private boolean settle(Sending sending) {
    if (channel != sending.over) {
      // The outbox has handled the message as that of a lost connection.
      underWay = null;
      return true;
    }
    if (!sending.done) {
      return false;
    }
    underWay = null;
    if (sending.failure == null) {
      outbox.sent();
    } else {
      LOG.debug("sending failed: closing the connection", sending.failure);
      broken = sending.over;
      sending.over.abort();
    }
    return true;
  }

  /** Single send, whose end any thread may tell. */
  private final class Sending implements Transport.SendCallback {
    private final Transport.Channel over;
    private final long startedAt;
    private volatile @Nullable Throwable failure;
    private volatile boolean done;

    Sending(Transport.Channel over, long startedAt) {
      this.over = over;
      this.startedAt = startedAt;
    }

    @Override
    public void onSent(@Nullable Throwable cause) {
      failure = cause;
      done = true;
      wake();
    }
  }
}
