package io.eventbus.server.security;

/**
 * Policy of what an authenticated client may do. Any thread, never an event loop for longer than
 * microseconds: longer work is remembered for the next client.
 */
@FunctionalInterface
public interface PermissionPolicy {
  /** Policy that allows nothing. */
  PermissionPolicy NOTHING = (identity, credentials) -> Permissions.NONE;

  /** Returns the permissions of a client; the same object for clients with the same rules. */
  Permissions permissions(Identity identity, Credentials credentials);
}
