package io.eventbus.registry.ratis;

import io.eventbus.registry.CommandResult;
import java.util.List;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/** The results of a batch, handed back through Ratis within this process. */
record ResultsMessage(List<CommandResult> results) implements Message {
  @Override
  public ByteString getContent() {
    return ByteString.EMPTY;
  }
}
