package io.eventbus.link;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.CorruptedFrameException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Messages between the two ends of a new link.
 *
 * <pre>
 *   client                                   server
 *   HELLO  versions, who, nonce   --&gt;
 *                                 &lt;--        CHALLENGE nonce
 *   PROOF  mac                    --&gt;
 *                                 &lt;--        READY version, who, mac   or   REFUSED why
 * </pre>
 *
 * <p>A mac is HMAC-SHA-256 with the shared secret over a label of the side, the whole HELLO, the
 * server's nonce and, for the server, what it says in READY. So neither side can be played back or
 * reflected, and a stranger learns nothing but a random nonce: reasons other than a wrong secret
 * are told only to a bus that holds it.
 */
final class LinkHandshake {
  /** Version of the links that this software speaks; it speaks no other. */
  static final int VERSION = 1;

  static final int NONCE_BYTES = 32;

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{0,64}");

  private LinkHandshake() {}

  /** First message of a client. */
  // Bytes of one handshake: they are neither compared nor changed.
  @SuppressWarnings("ArrayRecordComponent")
  record Hello(int minVersion, int maxVersion, LinkPeer peer, byte[] nonce) {
    ByteBuf encode() {
      ByteBuf out = Unpooled.buffer(256);
      LinkCodec.writeLong(out, minVersion);
      LinkCodec.writeLong(out, maxVersion);
      LinkCodec.writeString(out, peer.name());
      LinkCodec.writeString(out, peer.cluster());
      LinkCodec.writeString(out, peer.bus());
      LinkCodec.writeLong(out, peer.instance());
      LinkCodec.writeString(out, peer.channel());
      LinkCodec.writeBytes(out, nonce);
      return out;
    }

    static Hello decode(ByteBuf in) {
      return new Hello(
          LinkCodec.readInt(in),
          LinkCodec.readInt(in),
          new LinkPeer(name(in), name(in), name(in), LinkCodec.readLong(in), name(in)),
          LinkHandshake.nonce(LinkCodec.readBytes(in)));
    }
  }

  /** Last message of a server. */
  // Bytes of one handshake: they are neither compared nor changed.
  @SuppressWarnings("ArrayRecordComponent")
  record Ready(int version, LinkPeer peer, byte[] mac) {
    ByteBuf encode() {
      ByteBuf out = encodeHead(version, peer);
      LinkCodec.writeBytes(out, mac);
      return out;
    }

    static Ready decode(ByteBuf in, String channel) {
      return new Ready(
          LinkCodec.readInt(in),
          new LinkPeer(name(in), name(in), name(in), LinkCodec.readLong(in), channel),
          LinkCodec.readBytes(in));
    }

    static ByteBuf encodeHead(int version, LinkPeer peer) {
      ByteBuf out = Unpooled.buffer(256);
      LinkCodec.writeLong(out, version);
      LinkCodec.writeString(out, peer.name());
      LinkCodec.writeString(out, peer.cluster());
      LinkCodec.writeString(out, peer.bus());
      LinkCodec.writeLong(out, peer.instance());
      return out;
    }
  }

  static byte[] nonce(byte[] bytes) {
    if (bytes.length != NONCE_BYTES) {
      throw new CorruptedFrameException(
          "nonce: " + bytes.length + " bytes (expected: " + NONCE_BYTES + ")");
    }
    return bytes;
  }

  static byte[] clientProof(byte[] key, byte[] hello, byte[] serverNonce) {
    return mac(key, "eventbus link client", hello, serverNonce, new byte[0]);
  }

  static byte[] serverProof(
      byte[] key, byte[] hello, byte[] serverNonce, int version, LinkPeer server) {
    byte[] ready = ByteBufUtil.getBytes(Ready.encodeHead(version, server));
    return mac(key, "eventbus link server", hello, serverNonce, ready);
  }

  static boolean matches(byte[] expected, byte[] given) {
    return MessageDigest.isEqual(expected, given);
  }

  private static byte[] mac(byte[] key, String label, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update(label.getBytes(StandardCharsets.US_ASCII));
      for (byte[] part : parts) {
        // The lengths keep one part from running into the next.
        mac.update((byte) (part.length >> 8));
        mac.update((byte) part.length);
        mac.update(part);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has HmacSHA256", e);
    }
  }

  private static String name(ByteBuf in) {
    String name = LinkCodec.readString(in);
    if (!NAME.matcher(name).matches()) {
      throw new CorruptedFrameException("a name that is none");
    }
    return name;
  }
}
