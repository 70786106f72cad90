package io.eventbus.client.internal.outbound;

import io.eventbus.client.internal.base.Transport;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writer of control frames for a connection that the {@link Sender} does not use yet, one message
 * at a time. Any thread may use it.
 */
public final class StandbyWriter implements Transport.SendCallback {
  private static final Logger LOG = LoggerFactory.getLogger(StandbyWriter.class);

  private final Transport.Channel channel;
  private final int messageBytes;
  private final Deque<byte[]> waiting = new ArrayDeque<>();
  private boolean busy;
  private @Nullable Runnable whenIdle;

  public StandbyWriter(Transport.Channel channel, int messageBytes) {
    this.channel = channel;
    this.messageBytes = messageBytes;
  }

  public void send(Collection<byte[]> frames) {
    synchronized (this) {
      waiting.addAll(frames);
    }
    sendSome();
  }

  synchronized boolean isIdle() {
    return !busy;
  }

  /** Runs a task once when the network has accepted everything, perhaps at once. */
  public void whenIdle(Runnable task) {
    synchronized (this) {
      whenIdle = task;
    }
    sendSome();
  }

  private void sendSome() {
    Runnable idle;
    ByteBuffer message;
    synchronized (this) {
      if (busy) {
        return;
      }
      message = next();
      busy = message != null;
      idle = message == null ? whenIdle : null;
      if (idle != null) {
        whenIdle = null;
      }
    }
    if (message != null) {
      try {
        channel.send(message, this);
      } catch (RuntimeException e) {
        onSent(e);
      }
    } else if (idle != null) {
      idle.run();
    }
  }

  private @Nullable ByteBuffer next() {
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    byte[] frame = waiting.peekFirst();
    while (frame != null && (message.size() == 0 || message.size() + frame.length < messageBytes)) {
      message.writeBytes(waiting.removeFirst());
      frame = waiting.peekFirst();
    }
    return message.size() == 0 ? null : ByteBuffer.wrap(message.toByteArray());
  }

  @Override
  public void onSent(@Nullable Throwable failure) {
    if (failure != null) {
      // Stays busy: nothing more is sent, and the end of the connection is reported elsewhere.
      LOG.debug("sending failed: closing the connection", failure);
      channel.abort();
      return;
    }
    synchronized (this) {
      busy = false;
    }
    sendSome();
  }
}
