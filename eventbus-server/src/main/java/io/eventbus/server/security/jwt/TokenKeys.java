package io.eventbus.server.security.jwt;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The keys that there are now. Any thread; must not block. */
interface TokenKeys {
  /** Returns the keys that hold now, none where they have become too old. */
  List<TokenKey> keys();

  /**
   * Looks for newer keys, because a token names one that is not there.
   *
   * @return completed when there may be others; it never fails
   */
  CompletableFuture<Void> lookAgain();

  /**
   * Says whether a key that is not among {@link #keys} does not exist.
   *
   * @return false where that cannot be known now, because keys could not be fetched
   */
  boolean areComplete();
}
