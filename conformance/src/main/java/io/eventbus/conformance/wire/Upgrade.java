package io.eventbus.conformance.wire;

import java.util.Map;

/**
 * The answer to a request to upgrade.
 *
 * @param status 101, another status to refuse it, or 0 to close the connection without an answer,
 *     -1 to say nothing
 * @param subprotocol what 101 names; empty for none
 */
public record Upgrade(int status, Map<String, String> headers, String body, String subprotocol) {
  /** Takes it. */
  public static final Upgrade ACCEPT = new Upgrade(101, Map.of(), "", "eventbus.v1.avro");

  /** Closes the connection. */
  public static final Upgrade DROP = new Upgrade(0, Map.of(), "", "");
}
