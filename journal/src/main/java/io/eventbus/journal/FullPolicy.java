package io.eventbus.journal;

/** Behaviour of a journal that has as many bytes or events as it may. */
public enum FullPolicy {
  /** Removal of the oldest events. */
  DROP_OLD,
  /** Refusal of new events with {@link JournalRefusalReason#STORE_FULL}. */
  REFUSE
}
