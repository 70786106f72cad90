package io.eventbus.conformance.wire;

import java.util.Map;

/** Listener of clients. Called on I/O threads, for a connection one at a time; must not block. */
public interface WireListener {
  /**
   * Returns the answer to an upgrade request.
   *
   * @param bus that received it
   */
  Upgrade upgrading(ScriptedBus bus, Map<String, String> headers);

  /** Called when a connection is open. */
  void opened(WireConnection connection);

  /**
   * Called with a complete binary message.
   *
   * @param connection where
   * @param message its bytes
   */
  void message(WireConnection connection, byte[] message);

  /**
   * Called with any other message.
   *
   * @param connection where
   * @param kind Ping or Pong, or a text message, which no client may send
   */
  void other(WireConnection connection, String kind);

  /**
   * Called with the client's Close frame.
   *
   * @param connection where
   */
  void closing(WireConnection connection, int code, String reason);

  /** Called at the end of a connection. */
  void ended(WireConnection connection);
}
