package io.eventbus.server.security.jwt;

import io.eventbus.server.security.Identity;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Instant;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Tokens that were good, by their SHA-256, until they expire or the keys change: clients that
 * return all at once cost no signature. The least recently used make room. Any thread.
 */
final class VerifiedTokens {
  static final int MAX_TOKENS = 10_000;
  static final long MAX_BYTES = 16 << 20;

  private static final int IDENTITY_BYTES = 512;
  private static final int TEXT_BYTES = 64;

  private final Clock clock;

  private final Map<String, Remembered> identities = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;
  private @Nullable Object version;

  private record Remembered(Identity identity, long bytes) {}

  VerifiedTokens(Clock clock) {
    this.clock = clock;
  }

  /** Finds a token. */
  @Nullable Identity find(String token, Object now) {
    String key = key(token);
    synchronized (identities) {
      if (version != now) {
        version = now;
        identities.clear();
        bytes = 0;
      }
      Remembered found = identities.get(key);
      if (found == null) {
        return null;
      }
      if (holds(found.identity())) {
        return found.identity();
      }
      identities.remove(key);
      bytes -= found.bytes();
      return null;
    }
  }

  /** Adds a token that was good with keys of a version, unless there have been others since. */
  void add(String token, Identity identity, Object with) {
    if (holds(identity)) {
      String key = key(token);
      Remembered more = new Remembered(identity, bytes(identity));
      synchronized (identities) {
        if (version != with) {
          return;
        }
        Remembered before = identities.put(key, more);
        bytes += more.bytes() - (before == null ? 0 : before.bytes());
        for (Iterator<Remembered> oldest = identities.values().iterator();
            identities.size() > MAX_TOKENS || bytes > MAX_BYTES; ) {
          bytes -= oldest.next().bytes();
          oldest.remove();
        }
      }
    }
  }

  /** Estimates the size of an identity: the texts of a token make nearly all of it. */
  private static long bytes(Identity identity) {
    return IDENTITY_BYTES
        + Stream.of(
                Stream.of(identity.account(), identity.subject()),
                identity.roles().stream(),
                identity.claims().keySet().stream(),
                identity.claims().values().stream(),
                identity.allow().values().stream().flatMap(List::stream),
                identity.deny().values().stream().flatMap(List::stream))
            .flatMap(texts -> texts)
            .mapToLong(text -> TEXT_BYTES + text.length())
            .sum();
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
