package io.eventbus.link.stream;

import io.eventbus.base.RefusedMemory;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.TooLongFrameException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Streams of one event loop: their connections, keepalives and writes. Confined to the loop except
 * for {@link #execute} and immutable state.
 */
public abstract class StreamLoop {
  private static final Logger LOG = LoggerFactory.getLogger(StreamLoop.class);

  /** Time that an acknowledgement waits for more to acknowledge. */
  private static final long ACK_MILLIS = 5;

  /** Maximum time between two rounds of keepalives. */
  private static final long MAX_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final EventLoop eventLoop;
  private final long heartbeat;
  private final long silence;
  private final Set<StreamConnection> connections = new LinkedHashSet<>();
  private final Runnable drain = this::drain;
  private List<ReliableStream<?>> dirty = new ArrayList<>();
  private List<ReliableStream<?>> draining = new ArrayList<>();
  private boolean drainScheduled;
  private boolean ending;

  /**
   * Creates the state of a loop without streams.
   *
   * @param heartbeat time between keepalives
   * @param silence time without a frame after which the other end of a connection counts as lost
   */
  protected StreamLoop(EventLoop eventLoop, Duration heartbeat, Duration silence) {
    this.eventLoop = eventLoop;
    this.heartbeat = heartbeat.toNanos();
    this.silence = silence.toNanos();
  }

  /** Returns nanoseconds such as {@link System#nanoTime}. */
  public abstract long nanoTime();

  public abstract RandomGenerator random();

  /** Schedules {@link #check} for a deadline that may come before the next one. */
  public abstract void checkSoon();

  /** Returns whether an exception of a handler means that the other bus has sent nonsense. */
  protected abstract boolean isMalformed(Throwable error);

  /** Opens a connection as {@link LinkNode#openStream} does. */
  protected abstract CompletableFuture<LinkPeer> open(
      InetSocketAddress address,
      String channel,
      EventLoop owner,
      Function<LinkPeer, ChannelHandler> handler);

  // The error handler gets the outcome of the link's future.
  @SuppressWarnings("FutureReturnValueIgnored")
  void open(
      InetSocketAddress address,
      String channel,
      Function<LinkPeer, ChannelHandler> handler,
      Consumer<Throwable> failed) {
    CompletableFuture<LinkPeer> opening;
    try {
      opening = open(address, channel, eventLoop, handler);
    } catch (RuntimeException | Error e) {
      opening = CompletableFuture.failedFuture(e);
    }
    opening.whenComplete(
        (linkPeer, error) -> {
          if (error != null) {
            execute(() -> failed.accept(error));
          }
        });
  }

  public EventLoop eventLoop() {
    return eventLoop;
  }

  Keepalive keepalive() {
    return new Keepalive(heartbeat, silence, nanoTime());
  }

  /** Runs a task on the loop; any thread. Discarded after the end of the bus. */
  public void execute(Runnable task) {
    try {
      eventLoop.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.trace("the loop has ended", e);
    }
  }

  /** Runs a task in a few milliseconds. */
  public void later(Runnable task) {
    var unused = schedule(task, ACK_MILLIS);
  }

  public Future<?> schedule(Runnable task, long millis) {
    return eventLoop.schedule(task, millis, TimeUnit.MILLISECONDS);
  }

  /** Logs the failure of a stream or a connection, as loudly as it deserves. */
  public void failed(Object stream, Throwable error) {
    Throwable nested = error.getCause();
    Throwable cause = error instanceof DecoderException && nested != null ? nested : error;
    if (cause instanceof IOException) {
      LOG.debug("{} failed", stream, cause);
    } else if (cause instanceof CorruptedFrameException
        || cause instanceof TooLongFrameException
        || isMalformed(cause)) {
      LOG.warn("{} ends after a malformed frame: {}", stream, cause.toString());
    } else if (RefusedMemory.isRefused(cause)) {
      // Many streams may fail for the same reason, again and again.
      LOG.warn("{} failed; its connection ends: {}", stream, cause.toString());
    } else {
      LOG.error("{} failed; its connection ends", stream, cause);
    }
  }

  void drainSoon(ReliableStream<?> stream) {
    dirty.add(stream);
    if (!drainScheduled) {
      execute(drain);
      drainScheduled = true;
    }
  }

  private void drain() {
    drainScheduled = false;
    List<ReliableStream<?>> round = dirty;
    dirty = draining;
    draining = round;
    for (int i = 0; i < round.size(); i++) {
      round.get(i).drain();
    }
    round.clear();
  }

  /** Adds a connection; returns false if the bus ends. */
  boolean add(StreamConnection connection) {
    if (ending || !connections.add(connection)) {
      return false;
    }
    // Its first keepalive may be due before the next check.
    checkSoon();
    return true;
  }

  void remove(StreamConnection connection) {
    connections.remove(connection);
  }

  /** Closes silent connections, and lets the others check their deadlines. */
  public final void check(long now) {
    for (StreamConnection connection : List.copyOf(connections)) {
      try {
        connection.onTick(now);
      } catch (RuntimeException | Error e) {
        connection.fail(e);
      }
    }
  }

  /** Returns whether a deadline other than a keepalive may come within the next second. */
  public final boolean isDueSoon() {
    return connections.stream().anyMatch(StreamConnection::isDueSoon);
  }

  /** Sends due keepalives; returns the nanoseconds until the next one, at most a second. */
  public final long sendKeepalives(long now) {
    boolean due = connections.stream().anyMatch(c -> c.keepalive().untilDue(now) <= 0);
    long next = MAX_WAIT_NANOS;
    for (StreamConnection connection : List.copyOf(connections)) {
      Keepalive keepalive = connection.keepalive();
      if (due && keepalive.isNearlyDue(now) && !keepalive.isSilent(now)) {
        try {
          connection.sendKeepalive();
        } catch (RuntimeException | Error e) {
          connection.fail(e);
        }
      }
      next = Math.min(next, Math.min(keepalive.untilDue(now), keepalive.untilSilent(now)));
    }
    return next;
  }

  /** Says goodbye on all connections because this bus ends; each is closed by the other end. */
  public final List<ChannelFuture> end() {
    ending = true;
    return List.copyOf(connections).stream().map(StreamConnection::end).toList();
  }
}
