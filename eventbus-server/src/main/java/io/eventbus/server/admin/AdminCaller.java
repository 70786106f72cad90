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
record AdminCaller(String name, AdminRole role, @Nullable Identity identity) {
  /** Where nobody is asked who it is. */
  static final AdminCaller UNASKED = new AdminCaller("", AdminRole.ADMIN, null);

  /** Where who it is would be asked, and it has said nothing. */
  static final AdminCaller UNKNOWN = new AdminCaller("", AdminRole.NONE, null);
}
