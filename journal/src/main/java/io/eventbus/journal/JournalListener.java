package io.eventbus.journal;

/**
 * Listener for what is applied to journals here, in the order of the log. Called on the thread that
 * applies entries: a listener that waits holds up all publishers.
 *
 * <p>After an error of the disk the log is applied again from an earlier entry on: a listener is
 * then told of positions that it knows.
 */
public interface JournalListener {
  /** Takes note of an entry that has been applied and can be read. */
  void applied(AppliedChanges changes);
}
