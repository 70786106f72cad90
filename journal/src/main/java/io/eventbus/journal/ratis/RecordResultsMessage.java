package io.eventbus.journal.ratis;

import io.eventbus.journal.RecordResult;
import java.util.List;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/**
 * The results of an entry, handed back through Ratis within this process.
 *
 * @param index index of the entry in the log
 */
record RecordResultsMessage(long index, List<RecordResult> results) implements Message {
  @Override
  public ByteString getContent() {
    return ByteString.EMPTY;
  }
}
