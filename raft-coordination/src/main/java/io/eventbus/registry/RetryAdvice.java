package io.eventbus.registry;

/** Advice to a submitter after a command was not answered with success. */
public enum RetryAdvice {
  /** Do not repeat: the same will happen again until something is changed. */
  NEVER,
  /**
   * Repeat with the same id, after a pause that grows: if the command was applied after all, its
   * first result comes back.
   */
  SAME_ID,
  /**
   * Read the registry, make a new command with a new id: the old id would only bring back the same
   * refusal.
   */
  NEW_ID
}
