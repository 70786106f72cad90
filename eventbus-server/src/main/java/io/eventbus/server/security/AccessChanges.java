package io.eventbus.server.security;

/**
 * Listener for changes of the files and keys that decide who may connect, and what clients may do.
 * Its methods are called on the thread that looks for changes, or that has fetched them; it must
 * not block and must not throw.
 */
public interface AccessChanges {
  /** Listener that does nothing. */
  AccessChanges NONE =
      new AccessChanges() {
        @Override
        public void changed(String key, String summary) {}

        @Override
        public void refused(String key, String reason) {}
      };

  /** Called when a file or set of keys was read again and is used from now on. */
  void changed(String key, String summary);

  /**
   * Called when a change cannot be used: what was read before stays.
   *
   * @param reason where it is wrong, and what was expected; without secrets
   */
  void refused(String key, String reason);
}
