package io.eventbus.journal.ratis;

import org.apache.ratis.protocol.Message;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/** Entry on its way into the log. */
record EntryMessage(ByteString content) implements Message {
  /** Returns the message of an entry, whose bytes are not copied and never change. */
  static EntryMessage of(byte[] entry) {
    return new EntryMessage(UnsafeByteOperations.unsafeWrap(entry));
  }

  @Override
  public ByteString getContent() {
    return content;
  }
}
