package io.eventbus.journal.state;

import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;

/** Journal as the rules see it. */
record Journal(int number, JournalDefinition definition, long creation, JournalCounters counters) {
  boolean keepsLatest() {
    return definition.keep() == KeepPolicy.LATEST;
  }

  /** Returns the journal for messages. */
  String shown() {
    return definition.name() + " (journal " + number + ")";
  }
}
