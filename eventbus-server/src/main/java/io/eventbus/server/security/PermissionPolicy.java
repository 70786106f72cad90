package io.eventbus.server.security;

/**
 * Says what a client may do, once it is known who it is. Any thread, never an event loop for longer
 * than microseconds: what takes longer it keeps for the next client.
 */
@FunctionalInterface
public interface PermissionPolicy {
  /**
   * Returns what a client may do.
   *
   * @return what it may do; the same object for clients whose rules are the same
   */
  Permissions permissions(Identity identity, Credentials credentials);
}
