package io.eventbus.server.cluster;

import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Announcement of a bus on the local network: one datagram.
 *
 * <pre>
 *   "EBD1"  cluster's name  cluster's id  bus  host (each: length in a byte, ASCII)
 *   port (2 bytes)  number of the process (8 bytes)  HMAC-SHA-256 of all this (32 bytes)
 * </pre>
 *
 * <p>This is a hint where to look and no more: the bus there has to authenticate on the link.
 * Without a secret the key is a constant, and the code only finds damage.
 *
 * @param clusterId the number of the cluster; empty for a bus that looks for one
 * @param address where its links are
 */
record Announcement(String cluster, String clusterId, BusId bus, Endpoint address, long instance) {
  static final int MAX_BYTES = 512;

  /**
   * Constant part of all announcements of a bus.
   *
   * @param address address of its links
   */
  record Self(String cluster, BusId bus, Endpoint address, long instance) {
    Announcement announce(String clusterId) {
      return new Announcement(cluster, clusterId, bus, address, instance);
    }
  }

  private static final byte[] MAGIC = "EBD1".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] NO_SECRET = "no secret".getBytes(StandardCharsets.US_ASCII);
  private static final String ALGORITHM = "HmacSHA256";
  private static final int MAC_BYTES = 32;

  byte[] encode(byte @Nullable [] secret) {
    ByteBuffer out = ByteBuffer.allocate(MAX_BYTES);
    out.put(MAGIC);
    for (String text : new String[] {cluster, clusterId, bus.value(), address.host()}) {
      byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
      out.put((byte) bytes.length).put(bytes);
    }
    out.putShort((short) address.port()).putLong(instance);
    return seal(Arrays.copyOf(out.array(), out.position()), secret);
  }

  /** Adds the authentication code to the text. */
  static byte[] seal(byte[] said, byte @Nullable [] secret) {
    return ByteBuffer.allocate(said.length + MAC_BYTES)
        .put(said)
        .put(mac(secret, said, said.length))
        .array();
  }

  /** Decodes an announcement; null for anything else, or if it was not made with this secret. */
  static @Nullable Announcement decode(byte[] bytes, int length, byte @Nullable [] secret) {
    int said = length - MAC_BYTES;
    if (said < MAGIC.length || !Arrays.equals(bytes, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
      return null;
    }
    byte[] given = Arrays.copyOfRange(bytes, said, length);
    if (!MessageDigest.isEqual(mac(secret, bytes, said), given)) {
      return null;
    }
    try {
      ByteBuffer in = ByteBuffer.wrap(bytes, MAGIC.length, said - MAGIC.length);
      String cluster = text(in);
      String clusterId = text(in);
      BusId bus = new BusId(text(in));
      String host = text(in);
      Endpoint address = new Endpoint(host, in.getShort() & 0xFFFF);
      long instance = in.getLong();
      return in.hasRemaining()
          ? null
          : new Announcement(cluster, clusterId, bus, address, instance);
    } catch (BufferUnderflowException | IllegalArgumentException e) {
      return null;
    }
  }

  private static String text(ByteBuffer in) {
    byte[] bytes = new byte[in.get() & 0xFF];
    in.get(bytes);
    for (byte b : bytes) {
      if (b <= ' ' || b > '~') {
        throw new IllegalArgumentException("byte: " + b + " (expected: visible ASCII)");
      }
    }
    return new String(bytes, StandardCharsets.US_ASCII);
  }

  private static byte[] mac(byte @Nullable [] secret, byte[] bytes, int length) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret == null ? NO_SECRET : secret, ALGORITHM));
      // The label keeps it apart from what the same secret signs elsewhere.
      mac.update("eventbus discovery".getBytes(StandardCharsets.US_ASCII));
      mac.update(bytes, 0, length);
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + ALGORITHM, e);
    }
  }
}
