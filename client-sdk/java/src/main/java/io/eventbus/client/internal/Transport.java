package io.eventbus.client.internal;

import io.eventbus.client.internal.call.CallPath;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The port to a WebSocket implementation: makes connections for one client. */
public interface Transport {
  /**
   * Starts to connect. Must not block; what comes of it is told to the listener, exactly one of
   * {@link Listener#onOpen} and {@link Listener#onFailed}, perhaps before this method returns.
   *
   * @param url where to
   * @param patience how long it may take: the caller keeps the deadline and cancels it; what is
   *     tried one after the other, the addresses of a name, shares the time
   * @param listener hears about this connection only
   */
  Attempt connect(URI url, Duration patience, Listener listener);

  /** Lets go of what the connections share. Connections are closed before. */
  void close();

  /** A connection that is being made. */
  @FunctionalInterface
  interface Attempt {
    /**
     * Gives up, unless the connection is open already. Any thread may call it; it must not block.
     */
    void cancel();
  }

  /** One open connection. Any thread may use it. */
  interface Channel extends CallPath {
    /**
     * Sends a binary message behind those that are under way: one with events or requests at most,
     * one with answers to calls of a connection that is being left or come to, and any number that
     * only say how much may be delivered. Must not block until the network has taken it. The buffer
     * must not be touched until the callback is called; what is between its position and its limit
     * is sent.
     *
     * @param callback called once, by any thread, also before this method returns
     */
    void send(ByteBuffer message, SendCallback callback);

    /**
     * Sends a WebSocket ping, also while a message is under way. Must not block; the answer is told
     * with {@link Listener#onPong}, a failure is not told.
     */
    void ping();

    /**
     * Takes messages of up to so many bytes from the next one on; a bigger one ends the connection.
     * Called by the thread that calls the listener, while it does.
     */
    void acceptMessages(int mostBytes);

    /**
     * Stops reading, so that the other side is held back; a message that was read already may still
     * come. Must not block.
     */
    void pauseReading();

    /** Goes on reading, never in the calling thread. Must not block. */
    void resumeReading();

    /**
     * Sends a Close frame and then closes. Must not block for long.
     *
     * @param reason at most 123 bytes
     */
    void close(int code, String reason);

    /**
     * Closes the socket, without waiting for the other side. Must not block. The listener is told
     * code 1006.
     */
    void abort();
  }

  /** Hears how a send ended; must not block and must not throw. */
  @FunctionalInterface
  interface SendCallback {
    /**
     * A send has ended.
     *
     * @param failure null if the network has taken the message
     */
    void onSent(@Nullable Throwable failure);
  }

  /**
   * Hears what happens to a connection, one call at a time, on threads that other connections need
   * as well: must not block. {@link Channel#pauseReading} is how the bus is held back.
   */
  interface Listener {
    /** The WebSocket handshake has succeeded. */
    void onOpen(Channel channel);

    /** No connection came about. */
    void onFailed(Throwable failure);

    /** A binary message has arrived. */
    void onMessage(ByteBuffer message);

    /** A pong has arrived. */
    void onPong();

    /**
     * The connection has ended; nothing follows.
     *
     * @param reason what the other side said, or empty
     */
    void onClosed(int code, String reason);
  }
}
