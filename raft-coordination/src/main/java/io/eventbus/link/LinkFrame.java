package io.eventbus.link;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufHolder;
import io.netty.buffer.DefaultByteBufHolder;
import org.jspecify.annotations.Nullable;

/** Inbound frame; its last user releases it. */
final class LinkFrame extends DefaultByteBufHolder {
  // The type codes 40 to 59 belong to links between buses; 50 and up are left to their users.
  static final int HELLO = 40;
  static final int CHALLENGE = 41;
  static final int PROOF = 42;
  static final int READY = 43;
  static final int REFUSED = 44;
  static final int PING = 45;
  static final int PONG = 46;
  static final int REQUEST = 47;
  static final int RESPONSE = 48;
  static final int FAILURE = 49;

  final int typeCode;

  LinkFrame(int typeCode, ByteBuf body) {
    super(body);
    this.typeCode = typeCode;
  }

  @Override
  public ByteBufHolder replace(ByteBuf content) {
    return new LinkFrame(typeCode, content);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LinkFrame frame && frame.typeCode == typeCode && super.equals(other);
  }

  @Override
  public int hashCode() {
    return 31 * super.hashCode() + typeCode;
  }
}
