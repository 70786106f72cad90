package io.eventbus.journal;

/** Choice of the events that a journal keeps. */
public enum KeepPolicy {
  /** Every event, until retention removes it. */
  ALL,
  /** Last event of each topic. */
  LATEST
}
