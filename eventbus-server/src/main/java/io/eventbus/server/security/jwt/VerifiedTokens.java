package io.eventbus.server.security.jwt;

import io.eventbus.server.security.Identity;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tokens that were good, by their SHA-256, until they expire: clients that come back all at once
 * cost no signature. Those that were used longest ago make room. Any thread.
 */
final class VerifiedTokens {
  static final int MOST = 10_000;

  private final Clock clock;

  private final Map<String, Identity> identities =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Identity> eldest) {
          return size() > MOST;
        }
      };

  VerifiedTokens(Clock clock) {
    this.clock = clock;
  }

  @Nullable Identity find(String token) {
    String key = key(token);
    synchronized (identities) {
      Identity found = identities.get(key);
      if (found == null || holds(found)) {
        return found;
      }
      identities.remove(key);
      return null;
    }
  }

  void add(String token, Identity identity) {
    if (holds(identity)) {
      String key = key(token);
      synchronized (identities) {
        identities.put(key, identity);
      }
    }
  }

  int size() {
    synchronized (identities) {
      return identities.size();
    }
  }

  private boolean holds(Identity identity) {
    Instant expires = identity.expiresAt();
    return expires != null && clock.instant().isBefore(expires);
  }

  private static String key(String token) {
    try {
      return Base64.getEncoder()
          .encodeToString(
              MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
