package io.eventbus.loadtest.coordination;

/**
 * Which servers clients talk to. A bus talks to the leader's process for what it writes, so the
 * registry's writers do so with either; it decides which server the others write to, and which one
 * all of them read from.
 */
public enum Placement {
  /** Every client talks to the server that leads when it connects. */
  LEADER,
  /** Clients are spread over the servers, as the systems' own clients do by default. */
  SPREAD
}
