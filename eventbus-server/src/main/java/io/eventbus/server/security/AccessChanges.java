package io.eventbus.server.security;

/**
 * Is told when the files and keys change that say who may come in, and what clients may do.
 * Implementers: called on the thread that looks for changes, or that has fetched them; must not
 * block and must not throw.
 */
public interface AccessChanges {
  /** Tells nobody. */
  AccessChanges NONE =
      new AccessChanges() {
        @Override
        public void changed(String key, String summary) {}

        @Override
        public void refused(String key, String reason) {}
      };

  /** What was read again is used from now on. */
  void changed(String key, String summary);

  /**
   * What has changed cannot be used: what was read before stays.
   *
   * @param reason where it is wrong, and what was expected; without secrets
   */
  void refused(String key, String reason);
}
