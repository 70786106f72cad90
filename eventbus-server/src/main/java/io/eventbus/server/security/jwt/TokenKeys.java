package io.eventbus.server.security.jwt;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Current keys. Any thread; must not block. */
interface TokenKeys {
  /** Returns the keys that hold now, none where they have become too old. */
  List<TokenKey> keys();

  /**
   * Looks for newer keys, because a token names an unknown one.
   *
   * @return completed when there may be others; it never fails. With true if a key that is not
   *     among {@link #keys} then does not exist; with false if that is not known, because keys were
   *     fetched before the call, or could not be fetched
   */
  CompletableFuture<Boolean> lookAgain();

  /**
   * Returns what changes whenever {@link #keys} change; what was found out with other keys is to be
   * forgotten then. To be asked before the keys.
   */
  Object version();
}
