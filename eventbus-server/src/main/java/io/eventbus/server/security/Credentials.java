package io.eventbus.server.security;

import org.jspecify.annotations.Nullable;

/**
 * What a client shows of itself, and what the bus knows of it without being told.
 *
 * @param token from {@code Hello}, null for none; never printed
 * @param client how the client calls itself; empty if it does not
 * @param local whether the client is on the bus's machine
 */
public record Credentials(@Nullable String token, String client, boolean local) {
  /**
   * Prints the record without its secret.
   *
   * @return text with {@code ***} in place of the token
   */
  @Override
  public String toString() {
    return "Credentials[token="
        + (token == null ? "none" : "***")
        + ", client="
        + client
        + ", local="
        + local
        + "]";
  }
}
