package io.eventbus.server.security;

/** What a rule does with the topics that it is about. */
public enum Effect {
  /** The action is allowed, unless another rule denies it. */
  ALLOW,
  /** The action is denied, whatever other rules allow. */
  DENY
}
