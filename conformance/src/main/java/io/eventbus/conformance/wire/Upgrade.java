package io.eventbus.conformance.wire;

import java.util.Map;

/**
 * Answer to an upgrade request.
 *
 * @param status 101, another status to refuse it, 0 to close the connection without an answer, or
 *     -1 for no answer
 * @param subprotocol subprotocol in the answer; empty for none
 */
public record Upgrade(int status, Map<String, String> headers, String body, String subprotocol) {
  /** Accepts the upgrade. */
  public static final Upgrade ACCEPT = new Upgrade(101, Map.of(), "", "eventbus.v1.avro");

  /** Closes the connection. */
  public static final Upgrade DROP = new Upgrade(0, Map.of(), "", "");
}
