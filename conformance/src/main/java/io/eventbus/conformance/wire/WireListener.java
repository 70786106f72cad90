package io.eventbus.conformance.wire;

import java.util.Map;

/** Is told what clients do. Called on I/O threads, for a connection one at a time; never block. */
public interface WireListener {
  /**
   * A client wants to upgrade.
   *
   * @param bus where it came
   */
  Upgrade upgrading(ScriptedBus bus, Map<String, String> headers);

  /** A connection is open. */
  void opened(WireConnection connection);

  /**
   * A binary message has come, whole.
   *
   * @param connection where
   * @param message its bytes
   */
  void message(WireConnection connection, byte[] message);

  /**
   * Something else has come.
   *
   * @param connection where
   * @param kind Ping or Pong, or a text message, which no client may send
   */
  void other(WireConnection connection, String kind);

  /**
   * The client has sent a Close frame.
   *
   * @param connection where
   */
  void closing(WireConnection connection, int code, String reason);

  /** The connection is over. */
  void ended(WireConnection connection);
}
