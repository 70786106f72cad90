package io.eventbus.server.admin;

import io.eventbus.server.security.Identity;
import org.jspecify.annotations.Nullable;

/**
 * Who calls the administration port.
 *
 * @param name for people: the user, or the key of the token; empty for a caller that is not known
 * @param role what it may do
 * @param identity who it has proved to be; null for one with the token of administrators, and for
 *     one that has proved nothing
 */
record Caller(String name, AdminRole role, @Nullable Identity identity) {
  /** Where nobody is asked who it is. */
  static final Caller UNASKED = new Caller("", AdminRole.ADMIN, null);

  /** Where who it is would be asked, and it has said nothing. */
  static final Caller UNKNOWN = new Caller("", AdminRole.NONE, null);
}
