package io.eventbus.server.admin;

import io.eventbus.server.security.Identity;
import org.jspecify.annotations.Nullable;

/**
 * Caller of the administration port.
 *
 * @param name for people: the user, or the key of the token; empty for an unknown caller
 * @param role what it may do
 * @param identity its proved identity; null for one with the token of administrators, and for one
 *     that has proved nothing
 */
record AdminCaller(String name, AdminRole role, @Nullable Identity identity) {
  /** Caller where nobody has to log in. */
  static final AdminCaller UNASKED = new AdminCaller("", AdminRole.ADMIN, null);

  /** Caller without credentials where login is needed. */
  static final AdminCaller UNKNOWN = new AdminCaller("", AdminRole.NONE, null);

  /** Returns its account; empty for the default one, and where it has none. */
  String account() {
    return identity == null ? "" : identity.account();
  }
}
