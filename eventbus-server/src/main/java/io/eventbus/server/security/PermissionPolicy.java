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
   * @param identity who it has proved to be
   * @param credentials what else the bus knows of it: whether it is local, how it calls itself
   * @return what it may do; the same object for clients whose rules are the same
   */
  Permissions permissions(Identity identity, Credentials credentials);
}
