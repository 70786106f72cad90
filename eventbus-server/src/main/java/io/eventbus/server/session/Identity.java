package io.eventbus.server.session;

import java.time.Instant;

/**
 * Who a client is. Immutable.
 *
 * @param number counts the sessions of this bus since its start
 * @param id the session's id
 * @param client the name that the client gave itself
 * @param agent its software
 * @param producer its producer number
 * @param resume the secret behind the number; never shown to anybody but the client
 * @param since when it was welcomed
 */
public record Identity(
    long number,
    String id,
    String client,
    String agent,
    long producer,
    String resume,
    Instant since) {
  /** A client that has not said Hello. */
  static final Identity UNKNOWN = new Identity(0, "", "", "", 0, "", Instant.EPOCH);

  @Override
  public String toString() {
    return id + " (" + client + ")";
  }
}
