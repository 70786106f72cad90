package io.eventbus.server.security.jwt;

import java.security.Key;
import org.jspecify.annotations.Nullable;

/**
 * Key that tokens are checked with.
 *
 * @param id its {@code kid}, or null for none
 * @param algorithm the only one that it is for, or null for all of its kind
 */
record TokenKey(@Nullable String id, KeyKind kind, @Nullable String algorithm, Key key) {
  boolean fits(String otherAlgorithm) {
    return kind == KeyKind.neededBy(otherAlgorithm)
        && (algorithm == null || algorithm.equals(otherAlgorithm));
  }

  /** Returns a text without the key. */
  @Override
  public String toString() {
    return "TokenKey[id=" + id + ", kind=" + kind + "]";
  }
}
