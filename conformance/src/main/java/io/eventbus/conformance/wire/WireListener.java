package io.eventbus.conformance.wire;

import java.util.Map;

/** Is told what clients do. Called on I/O threads, for a connection one at a time; never block. */
public interface WireListener {
  /**
   * A client wants to upgrade.
   *
   * @param bus where it came
   * @param headers of the request, names in lower case
   * @return what to answer
   */
  Upgrade upgrading(ScriptedBus bus, Map<String, String> headers);

  /**
   * A connection is open.
   *
   * @param connection which
   */
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
   * @param code its code, 1005 for none
   * @param reason its reason
   */
  void closing(WireConnection connection, int code, String reason);

  /**
   * The connection is over.
   *
   * @param connection which
   */
  void ended(WireConnection connection);
}
