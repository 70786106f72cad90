package io.eventbus.journal;

/** Place at which a new cursor begins. */
public enum CursorStart {
  /** Place behind the last event. */
  NEW,
  /** First event that the journal has. */
  FIRST,
  /** Event at a position, or the first one if the position has been trimmed. */
  POSITION
}
