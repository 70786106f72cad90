package io.eventbus.server.security;

/** Effect of a rule on the topics that it is about. */
public enum Effect {
  /** Allows the action, unless another rule denies it. */
  ALLOW,
  /** Denies the action, whatever other rules allow. */
  DENY
}
