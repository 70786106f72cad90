package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class TlsRecordsProperties {
  /** For any cut of the stream, each step ends where a record does, or at the end of the input. */
  @Property(tries = 300)
  void everyRecordIsFoundInAnyPieces(
      @ForAll @Size(min = 1, max = 20) List<@IntRange(max = 400) Integer> lengths,
      @ForAll @Size(min = 1, max = 30) List<@IntRange(min = 1, max = 300) Integer> cuts,
      @ForAll @IntRange(min = 1, max = 5) int count) {
    ByteBuf stream = Unpooled.buffer();
    List<Integer> ends = new ArrayList<>();
    for (int length : lengths) {
      stream.writeByte(23).writeShort(0x0303).writeShort(length).writeZero(length);
      ends.add(stream.writerIndex());
    }
    TlsRecords records = new TlsRecords();
    int at = 0;
    int found = 0;
    for (int i = 0; at < stream.writerIndex(); i++) {
      int piece = Math.min(cuts.get(i % cuts.size()), stream.writerIndex() - at);
      int pieceEnd = at + piece;
      while (at < pieceEnd) {
        int step = records.next(stream.slice(at, pieceEnd - at), count);
        assertThat(step).isPositive();
        int before = at;
        at += step;
        int end = at;
        int whole = (int) ends.stream().filter(e -> e > before && e <= end).count();
        found += whole;
        assertThat(whole).isLessThanOrEqualTo(count);
        if (at < pieceEnd) {
          assertThat(whole).isEqualTo(count);
          assertThat(ends).contains(at);
        }
      }
    }
    assertThat(found).isEqualTo(lengths.size());
  }
}
