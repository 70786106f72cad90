package io.eventbus.server.security;

/** What a client may be allowed to do with topics. */
public enum Action {
  /** To publish to a topic. */
  PUBLISH,
  /** To subscribe to topics that are not the system's. */
  SUBSCRIBE,
  /** To subscribe with the policy {@code BLOCK}, which holds publishers back. */
  BLOCK,
  /** To subscribe to the system's topics, those that start with {@code $}. */
  OBSERVE
}
