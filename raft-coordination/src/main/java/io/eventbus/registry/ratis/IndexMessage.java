package io.eventbus.registry.ratis;

import org.apache.ratis.protocol.Message;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/** How far the log is applied, handed back through the engine within this process. */
record IndexMessage(long index) implements Message {
  @Override
  public ByteString getContent() {
    return ByteString.EMPTY;
  }
}
