package io.eventbus.link.stream;

import io.eventbus.base.Backoff;
import io.eventbus.link.LinkNode;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stream at the bus that opens it: has one connection at a time, opened again after each end, with
 * pauses between failures. Confined to its loop except for {@link #isUp}.
 */
public abstract class OpenedStream implements StreamConnection.End {
  private static final Logger LOG = LoggerFactory.getLogger(OpenedStream.class);
  private static final Duration MIN_PAUSE = Duration.ofMillis(50);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(2);

  private final StreamLoop loop;
  private final String bus;
  private final String channel;
  private final int maxFrameBytes;
  private final Backoff pauses = new Backoff(MIN_PAUSE, MAX_PAUSE, 0.5);
  private volatile StreamState state = StreamState.DOWN;
  private @Nullable StreamConnection connection;
  private long downSince;

  /**
   * Creates a stream without a connection.
   *
   * @param bus id of the bus that it leads to
   * @param channel its kind and its number, see {@link LinkNode#openStream}
   * @param maxFrameBytes maximum bytes of a frame of that bus
   */
  protected OpenedStream(StreamLoop loop, String bus, String channel, int maxFrameBytes) {
    this.loop = loop;
    this.bus = bus;
    this.channel = channel;
    this.maxFrameBytes = maxFrameBytes;
    this.downSince = loop.nanoTime();
  }

  /** Returns the address of the other bus; null if it is not known. */
  protected abstract @Nullable InetSocketAddress address();

  /** Writes the first frames on a connection to the right bus. */
  protected abstract void greet(StreamConnection opened);

  /** Called when there is no connection any more, or it could not be opened. */
  protected abstract void onDown(boolean wasUp);

  /** Called after {@link #onDown} when no connection could be opened. */
  protected void onRefused(Throwable error) {}

  /** Returns whether frames flow; any thread. */
  public final boolean isUp() {
    return state == StreamState.UP;
  }

  protected final boolean isClosed() {
    return state == StreamState.CLOSED;
  }

  /** Returns the connection, also before the other bus has welcomed it. */
  protected final @Nullable StreamConnection connection() {
    return connection;
  }

  /** Starts to connect, if there is no connection, an address is known, and no pause lasts. */
  public final void connect() {
    InetSocketAddress address = address();
    if (state != StreamState.DOWN || address == null || !pauses.isDue(loop.nanoTime())) {
      return;
    }
    state = state.to(StreamState.CONNECTING);
    loop.open(
        address,
        channel,
        linkPeer -> new StreamConnection(loop, linkPeer, maxFrameBytes, this),
        error -> {
          if (state == StreamState.CONNECTING && connection == null) {
            LOG.debug("{} cannot be opened", this, error);
            down();
            onRefused(error);
          }
        });
  }

  @Override
  public final void onOpen(StreamConnection opened) {
    if (state != StreamState.CONNECTING || connection != null) {
      opened.close();
    } else if (!opened.linkPeer().bus().equals(bus)) {
      // The address belongs to another bus now, which has streams of its own.
      LOG.debug("{} led to bus \"{}\"", this, opened.linkPeer().bus());
      opened.close();
      down();
    } else {
      connection = opened;
      greet(opened);
    }
  }

  /** Handles the answer of the other bus: there is no reason to wait before the next attempt. */
  protected final void answered() {
    pauses.succeeded();
  }

  /** Handles the welcome of the other bus: frames flow. */
  protected final void welcomed() {
    state = state.to(StreamState.UP);
  }

  /** Closes a connection that is not welcomed: its first frame is no longer true. */
  protected final void withdraw() {
    StreamConnection greeted = connection;
    if (greeted != null && state == StreamState.CONNECTING) {
      down();
      greeted.close();
    }
  }

  /** Connects at once, and counts the time without a connection anew. */
  protected final void retryNow() {
    downSince = loop.nanoTime();
    pauses.succeeded();
    connect();
  }

  /** Returns whether there has been no connection for longer than this; true once for each time. */
  protected final boolean isTimedOut(long nanos, long now) {
    if (isUp() || now - downSince <= nanos) {
      return false;
    }
    downSince = now;
    return true;
  }

  @Override
  public void onClosed(StreamConnection closed) {
    if (closed == connection) {
      down();
    }
  }

  /** Continues without a connection; the next one is opened after a pause. */
  protected final void down() {
    if (state == StreamState.CLOSED) {
      return;
    }
    boolean wasUp = isUp();
    if (state != StreamState.DOWN) {
      state = state.to(StreamState.DOWN);
    }
    connection = null;
    long now = loop.nanoTime();
    pauses.failed(now, loop.random());
    if (wasUp) {
      downSince = now;
    }
    loop.checkSoon();
    onDown(wasUp);
  }

  /** Ends the stream; returns the connection that it had. */
  protected final @Nullable StreamConnection closed() {
    StreamConnection last = connection;
    connection = null;
    if (state != StreamState.CLOSED) {
      state = state.to(StreamState.CLOSED);
    }
    return last;
  }
}
