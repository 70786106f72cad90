package io.eventbus.client.tyrus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class FrameReaderProperties {
  private static final int MAX = 100_000;

  private static final class Heard implements FrameReader.Sink {
    final List<String> calls = new ArrayList<>();
    final List<byte[]> messages = new ArrayList<>();
    int pauseAfter = Integer.MAX_VALUE;

    @Override
    public void message(ByteBuffer message) {
      assertThat(message.arrayOffset()).isZero();
      messages.add(message.array());
      calls.add("message " + message.remaining());
    }

    @Override
    public void otherFrame(ByteBuffer frame) {
      calls.add("other " + (frame.get(0) & 0xFF) + " " + frame.remaining());
    }

    @Override
    public void broken(int closeCode, String reason) {
      calls.add("broken " + closeCode);
    }

    @Override
    public boolean isPaused() {
      return messages.size() >= pauseAfter;
    }
  }

  private final Heard heard = new Heard();
  private final FrameReader reader = new FrameReader(MAX, heard);

  private static byte[] frame(int first, byte... payload) {
    ByteBuffer out = ByteBuffer.allocate(payload.length + 10);
    out.put((byte) first);
    if (payload.length < 126) {
      out.put((byte) payload.length);
    } else if (payload.length < 65_536) {
      out.put((byte) 126).putShort((short) payload.length);
    } else {
      out.put((byte) 127).putLong(payload.length);
    }
    out.put(payload);
    return Arrays.copyOf(out.array(), out.position());
  }

  @Property(tries = 200)
  void messagesComeOutHoweverTheyAreCut(
      @ForAll @Size(min = 1, max = 6) List<@IntRange(max = 70_000) Integer> lengths,
      @ForAll @IntRange(min = 1, max = 40_000) int piece) {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    List<byte[]> sent = new ArrayList<>();
    for (int length : lengths) {
      byte[] payload = new byte[length];
      new java.util.Random(length).nextBytes(payload);
      sent.add(payload);
      stream.writeBytes(frame(0x82, payload));
    }
    Heard ears = new Heard();
    FrameReader cut = new FrameReader(MAX, ears);
    byte[] all = stream.toByteArray();
    for (int from = 0; from < all.length; from += piece) {
      cut.read(ByteBuffer.wrap(all, from, Math.min(piece, all.length - from)));
    }
    assertThat(ears.messages).hasSameSizeAs(sent);
    for (int i = 0; i < sent.size(); i++) {
      assertThat(ears.messages.get(i)).isEqualTo(sent.get(i));
    }
  }

  @Example
  void fragmentsControlFramesAndWhatIsNoneOfTheseGoToTyrus() {
    reader.read(ByteBuffer.wrap(frame(0x89, (byte) 1)));
    reader.read(ByteBuffer.wrap(frame(0x02, (byte) 1, (byte) 2)));
    reader.read(ByteBuffer.wrap(frame(0x8A)));
    reader.read(ByteBuffer.wrap(frame(0x82, (byte) 1)));
    reader.read(ByteBuffer.wrap(frame(0x00, (byte) 3)));
    reader.read(ByteBuffer.wrap(frame(0x80, (byte) 4)));
    reader.read(ByteBuffer.wrap(frame(0x82, (byte) 5)));
    reader.read(ByteBuffer.wrap(frame(0xC2, (byte) 6)));
    reader.read(ByteBuffer.wrap(frame(0x81, (byte) 'x')));
    // The whole message within the fragments is a mistake that Tyrus is to judge.
    assertThat(heard.calls)
        .containsExactly(
            "other 137 3",
            "other 2 4",
            "other 138 2",
            "other 130 3",
            "other 0 3",
            "other 128 3",
            "message 1",
            "other 194 3",
            "other 129 3");
  }

  @Example
  void aMaskedFrameEndsTheReading() {
    reader.read(ByteBuffer.wrap(new byte[] {(byte) 0x82, (byte) 0x81, 0, 0, 0, 0, 1}));
    reader.read(ByteBuffer.wrap(frame(0x82, (byte) 1)));
    assertThat(heard.calls).containsExactly("broken 1002");
  }

  @Example
  void aFrameThatIsTooBigEndsTheReading() {
    ByteBuffer head = ByteBuffer.allocate(10).put((byte) 0x82).put((byte) 127);
    reader.read(head.putLong(MAX + 1).flip());
    assertThat(heard.calls).containsExactly("broken 1009");
  }

  @Example
  void aNegativeLengthEndsTheReading() {
    ByteBuffer head = ByteBuffer.allocate(10).put((byte) 0x82).put((byte) 127);
    reader.read(head.putLong(-1).flip());
    assertThat(heard.calls).containsExactly("broken 1009");
  }

  @Example
  void aPauseLeavesTheRest() {
    heard.pauseAfter = 1;
    ByteBuffer two = ByteBuffer.allocate(8).put(frame(0x82, (byte) 1)).put(frame(0x82, (byte) 2));
    two.flip();
    reader.read(two);
    assertThat(heard.calls).containsExactly("message 1");
    assertThat(two.remaining()).isEqualTo(3);
    heard.pauseAfter = Integer.MAX_VALUE;
    reader.read(two);
    assertThat(heard.calls).containsExactly("message 1", "message 1");
  }
}
