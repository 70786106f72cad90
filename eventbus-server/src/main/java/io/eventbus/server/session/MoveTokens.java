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
 * The tokens with which clients come from other buses: issued here, on behalf of the bus that asks
 * for it, and redeemed here. Any thread.
 *
 * <p>A token is signed (HMAC-SHA-256, RFC 2104) with a key that this bus makes at its start and
 * shows to nobody, so that no secret of the cluster is needed and one bus's token is worth nothing
 * at another. It names the client's producer number and the bus that the client leaves, holds for a
 * short time, and is taken once: what was issued and not used yet is kept, up to a bound. See
 * docs/adr/0017-change-of-bus.md.
 */
public final class MoveTokens {
  /** As many moves as can be under way towards one bus. */
  public static final int MAX = 20_000;

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

  /** What a token says. */
  public record Grant(long producer, String from, int hops) {}

  /**
   * What became of a token.
   *
   * @param grant what it says; null if it is not taken
   * @param refusal why it is not taken, for people; else null
   */
  public record Redeemed(@Nullable Grant grant, @Nullable String refusal) {
    private static Redeemed refused(String why) {
      return new Redeemed(null, why);
    }
  }

  /**
   * Makes the tokens of a bus.
   *
   * @param nanoTime as {@link System#nanoTime}
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
   * Issues a token.
   *
   * @param grant what it is to say; a bus's name of at most 255 bytes
   * @return for {@code Hello.change}; null if too many are under way: try again later
   */
  public synchronized @Nullable String issue(Grant grant, Duration life) {
    long now = nanoTime.getAsLong();
    forgetExpired(now);
    byte[] from = grant.from().getBytes(StandardCharsets.UTF_8);
    if (unused.size() >= MAX || from.length > MAX_NAME_BYTES) {
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

  /** Takes a token, once. */
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
          "Hello.change is none that this bus has issued (expected: ChangeBus.token, unchanged)");
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

  /**
   * Says how many are issued and neither used nor expired.
   *
   * @return clients that may still come
   */
  public synchronized int outstanding() {
    forgetExpired(nanoTime.getAsLong());
    return unused.size();
  }

  /** They may have different lives: the bound holds, whatever is at the front. */
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
