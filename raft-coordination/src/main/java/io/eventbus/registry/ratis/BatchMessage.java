package io.eventbus.registry.ratis;

import io.eventbus.registry.codec.RegistryCodec;
import io.eventbus.registry.state.TimedCommand;
import java.util.List;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/** Commands on their way into the log: encoded for it, and as they are for this bus. */
record BatchMessage(List<TimedCommand> commands, ByteString content) implements Message {
  static BatchMessage of(List<TimedCommand> commands) {
    return new BatchMessage(
        commands, UnsafeByteOperations.unsafeWrap(RegistryCodec.encodeBatch(commands)));
  }

  @Override
  public ByteString getContent() {
    return content;
  }
}
