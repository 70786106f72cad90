package io.eventbus.loadtest.attack.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ServerFramesTest {
  private final List<String> found = new ArrayList<>();
  private boolean wants = true;
  private final ServerFrames frames =
      new ServerFrames(
          new ServerFrames.Sink() {
            @Override
            public boolean wants() {
              return wants;
            }

            @Override
            public void frame(int opcode, ByteBuf payload) {
              found.add(opcode + ":" + payload.readableBytes());
            }
          });

  private static ByteBuf stream() {
    ByteBuf stream = Unpooled.buffer();
    stream.writeByte(0x82).writeByte(3).writeZero(3);
    stream.writeByte(0x82).writeByte(126).writeShort(300).writeZero(300);
    stream.writeByte(0x89).writeByte(0);
    stream.writeByte(0x82).writeByte(127).writeLong(70_000).writeZero(70_000);
    stream.writeByte(0x88).writeByte(2).writeShort(1000);
    return stream;
  }

  private void takeInPiecesOf(int bytes) {
    ByteBuf stream = stream();
    while (stream.isReadable()) {
      frames.take(stream.readSlice(Math.min(bytes, stream.readableBytes())));
    }
  }

  @Test
  void framesMayBeCutAnywhere() {
    for (int bytes : new int[] {1, 2, 3, 7, 1000, 100_000}) {
      found.clear();
      takeInPiecesOf(bytes);
      assertThat(found)
          .as("pieces of " + bytes)
          .containsExactly("2:3", "2:300", "9:0", "2:70000", "8:2");
    }
  }

  @Test
  void whatIsNotWantedIsSkippedButControlFramesCome() {
    wants = false;
    for (int bytes : new int[] {1, 5, 100_000}) {
      found.clear();
      takeInPiecesOf(bytes);
      assertThat(found).as("pieces of " + bytes).containsExactly("9:0", "8:2");
    }
  }
}
