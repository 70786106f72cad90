package io.eventbus.journal.ratis;

import java.nio.ByteBuffer;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/** Entry on its way into the log. */
record EntryMessage(ByteString content) implements Message {
  /** Returns the message of an entry, whose bytes are not copied and never change. */
  static EntryMessage of(ByteBuffer entry) {
    return new EntryMessage(UnsafeByteOperations.unsafeWrap(entry.slice()));
  }

  @Override
  public ByteString getContent() {
    return content;
  }
}
