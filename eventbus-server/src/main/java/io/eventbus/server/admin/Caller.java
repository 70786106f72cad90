package io.eventbus.server.admin;

/**
 * Who calls the administration port.
 *
 * @param name for people: the user, or the key of the token; empty for a caller that is not known
 * @param role what it may do
 */
record Caller(String name, AdminRole role) {
  /** Where nobody is asked who it is. */
  static final Caller UNASKED = new Caller("", AdminRole.ADMIN);

  /** Where who it is would be asked, and it has said nothing. */
  static final Caller UNKNOWN = new Caller("", AdminRole.NONE);
}
