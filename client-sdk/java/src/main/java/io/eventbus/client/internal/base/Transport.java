package io.eventbus.client.internal.base;

import io.eventbus.client.internal.call.CallPath;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Port to a WebSocket implementation: makes connections for one client. */
public interface Transport {
  /**
   * Starts to connect. Must not block; the result is told to the listener, exactly one of {@link
   * Listener#onOpen} and {@link Listener#onFailed}, perhaps before this method returns.
   *
   * @param timeout time it may take: the caller keeps the deadline and cancels it; attempts that
   *     follow each other, at the addresses of a name, share the time
   * @param listener hears about this connection only
   */
  Attempt connect(URI url, Duration timeout, Listener listener);

  /** Releases what the connections share. Connections are closed before. */
  void close();

  /** Connection that is being made. */
  @FunctionalInterface
  interface Attempt {
    /**
     * Gives up, unless the connection is open already. Any thread may call it; it must not block.
     */
    void cancel();
  }

  /** Open connection. Any thread may use it. */
  interface Channel extends CallPath {
    /**
     * Sends a binary message behind those that are under way. At a time these are at most one with
     * events or requests and one with replies during a move, and any number that only grant credit
     * or settle events. Must not block until the network has accepted it. The buffer must not be
     * touched until the callback is called; the bytes between its position and its limit are sent.
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
     * Accepts messages of up to this size from the next one on; a bigger one ends the connection.
     * Called by the thread that calls the listener, while it does.
     */
    void acceptMessages(int maxBytes);

    /**
     * Stops reading, so that the other side is stalled; a message that was read already may still
     * come. Must not block.
     */
    void pauseReading();

    /** Resumes reading, never in the calling thread. Must not block. */
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

  /** Callback for the end of a send; must not block and must not throw. */
  @FunctionalInterface
  interface SendCallback {
    /**
     * Called when a send has ended.
     *
     * @param failure null if the network has accepted the message
     */
    void onSent(@Nullable Throwable failure);
  }

  /**
   * Listener of a connection, called one call at a time, on threads that other connections need as
   * well: must not block. {@link Channel#pauseReading} stalls the bus.
   */
  interface Listener {
    /** Called when the WebSocket handshake has succeeded. */
    void onOpen(Channel channel);

    /** Called when no connection could be made. */
    void onFailed(Throwable failure);

    /** Called when a binary message has arrived. */
    void onMessage(ByteBuffer message);

    /** Called when a pong has arrived. */
    void onPong();

    /**
     * Called when the connection has ended; nothing follows.
     *
     * @param reason text from the other side, or empty
     */
    void onClosed(int code, String reason);
  }
}
