package io.eventbus.server.session;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Tokens with which clients move here from peers: issued here on behalf of the peer, and redeemed
 * here. Any thread.
 *
 * <p>A token is signed (HMAC-SHA-256, RFC 2104) with a key that this bus creates at its start and
 * never discloses, so that no secret of the cluster is needed and a token is valid at one bus only.
 * Each names the client's producer number and the bus that the client leaves, is valid for a short
 * time, and is redeemed once: tokens issued and not redeemed are kept, up to a bound. See
 * docs/adr/0017-client-move.md.
 */
public final class MoveTokens {
  /** Moves that may be under way to one bus. */
  public static final int MAX_OUTSTANDING = 20_000;

  private static final String ALGORITHM = "HmacSHA256";
  private static final byte VERSION = 1;
  private static final int MAC_BYTES = 32;
  private static final int HEAD_BYTES = 1 + 3 * Long.BYTES + Integer.BYTES;
  private static final int MAX_NAME_BYTES = 255;
  private static final int MAX_TEXT = 1024;

  private final byte[] bus;
  private final SecretKeySpec key;
  private final SecureRandom random;
  private final LongSupplier nanoTime;
  private final Map<Long, Long> unused = new LinkedHashMap<>();

  /** Content of a token. */
  public record Grant(long producer, String from, int hops) {}

  /**
   * Result of redeeming a token: the grant, or the reason for the refusal; the other of the two is
   * null.
   */
  public record Redeemed(@Nullable Grant grant, @Nullable String refusal) {
    private static Redeemed refused(String reason) {
      return new Redeemed(null, reason);
    }
  }

  /**
   * Creates the tokens of a bus.
   *
   * @param nanoTime clock such as {@link System#nanoTime}
   */
  public MoveTokens(String bus, SecureRandom random, LongSupplier nanoTime) {
    this.bus = bus.getBytes(StandardCharsets.UTF_8);
    this.random = random;
    this.nanoTime = nanoTime;
    byte[] secret = new byte[MAC_BYTES];
    random.nextBytes(secret);
    this.key = new SecretKeySpec(secret, ALGORITHM);
  }

  /**
   * Issues a token for {@code Hello.change}. Returns null if too many moves are under way: try
   * again later.
   *
   * @param grant content of the token; the bus's name has at most 255 bytes
   */
  public synchronized @Nullable String issue(Grant grant, Duration life) {
    long now = nanoTime.getAsLong();
    forgetExpired(now);
    byte[] from = grant.from().getBytes(StandardCharsets.UTF_8);
    if (unused.size() >= MAX_OUTSTANDING || from.length > MAX_NAME_BYTES) {
      return null;
    }
    long number = random.nextLong();
    long expires = now + life.toNanos();
    if (unused.putIfAbsent(number, expires) != null) {
      return null;
    }
    ByteBuffer token = ByteBuffer.allocate(HEAD_BYTES + from.length + MAC_BYTES);
    token.put(VERSION).putLong(number).putLong(expires).putLong(grant.producer());
    token.putInt(grant.hops()).put(from);
    token.put(sign(token.array(), token.position()));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(token.array());
  }

  /** Redeems a token, which is possible once. */
  public synchronized Redeemed redeem(String text, long producer) {
    byte[] bytes;
    try {
      bytes = text.length() > MAX_TEXT ? new byte[0] : Base64.getUrlDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      bytes = new byte[0];
    }
    int signed = bytes.length - MAC_BYTES;
    if (signed < HEAD_BYTES
        || bytes[0] != VERSION
        || !MessageDigest.isEqual(
            sign(bytes, signed), Arrays.copyOfRange(bytes, signed, bytes.length))) {
      return Redeemed.refused(
          "Hello.change was not issued by this bus (expected: ChangeBus.token, unchanged)");
    }
    ByteBuffer token = ByteBuffer.wrap(bytes, 1, signed - 1);
    long number = token.getLong();
    long expires = token.getLong();
    long owner = token.getLong();
    int hops = token.getInt();
    if (owner != producer) {
      return Redeemed.refused("Hello.change is another client's");
    }
    long now = nanoTime.getAsLong();
    forgetExpired(now);
    if (expires - now <= 0) {
      return Redeemed.refused("Hello.change has expired");
    }
    if (unused.remove(number) == null) {
      return Redeemed.refused("Hello.change was used before");
    }
    String from = new String(bytes, HEAD_BYTES, signed - HEAD_BYTES, StandardCharsets.UTF_8);
    return new Redeemed(new Grant(producer, from, hops), null);
  }

  /** Returns how many tokens are neither redeemed nor expired. */
  public synchronized int outstanding() {
    forgetExpired(nanoTime.getAsLong());
    return unused.size();
  }

  /**
   * Forgets expired tokens anywhere in the map: their lifetimes differ, and the bound must hold
   * whatever is at the front.
   */
  private void forgetExpired(long now) {
    for (Iterator<Long> expires = unused.values().iterator(); expires.hasNext(); ) {
      if (expires.next() - now > 0) {
        return;
      }
      expires.remove();
    }
  }

  private byte[] sign(byte[] bytes, int length) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update(bus);
      mac.update(bytes, 0, length);
      return mac.doFinal();
    } catch (NoSuchAlgorithmException | InvalidKeyException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
  }
}
