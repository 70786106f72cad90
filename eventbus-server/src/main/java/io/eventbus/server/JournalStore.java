package io.eventbus.server;

import io.eventbus.journal.Journals;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Journals of a bus, which are opened before it and closed after it. */
interface JournalStore extends AutoCloseable {
  /** Opener of the journals. */
  interface Opener {
    /**
     * Opens the journals; null for a bus without any.
     *
     * @throws IOException if they cannot be opened; names problem, place and expectation
     */
    @Nullable JournalStore open() throws IOException;
  }

  /** Returns the journals. */
  Journals journals();

  @Override
  void close();
}
