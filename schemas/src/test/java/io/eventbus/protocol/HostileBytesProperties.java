package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.apache.avro.specific.SpecificRecord;

/**
 * Bodies that were damaged at random: every reader refuses them in the only legal way, and its
 * answer does not depend on any byte outside the body.
 */
class HostileBytesProperties {
  private static final int[] POISONS = {0x00, 0xFF, 0x02, 0x80};

  @Provide
  Arbitrary<SpecificRecord> anyRecord() {
    return Records.all();
  }

  @Property(tries = 1500)
  void damagedBodiesAreReadOrRefusedWithoutLookingOutside(
      @ForAll("anyRecord") SpecificRecord record,
      @ForAll long seed,
      @ForAll @IntRange(max = 20) int before,
      @ForAll boolean direct) {
    Random random = new Random(seed);
    byte[] body = damage(AnyBlocksEncoder.encode(record, seed), random);

    assertSameWhateverIsAround(Records.typeOf(record), body, before, direct);
    Differential.check(Records.typeOf(record), body);
  }

  @Property(tries = 500)
  void bytesOfOneRecordReadAsAnother(
      @ForAll("anyRecord") SpecificRecord record, @ForAll long seed, @ForAll boolean direct) {
    byte[] body = AnyBlocksEncoder.encode(record, seed);
    for (TypeCode type : TypeCode.values()) {
      assertSameWhateverIsAround(type, body, 9, direct);
    }
  }

  @Property
  void anyBytesAsAnyRecord(@ForAll byte[] body, @ForAll boolean direct) {
    for (TypeCode type : TypeCode.values()) {
      assertSameWhateverIsAround(type, body, 9, direct);
    }
  }

  @Property(tries = 1000)
  void damagedMessagesAreWalkedWithoutLookingOutside(
      @ForAll("anyRecord") SpecificRecord record, @ForAll long seed, @ForAll boolean direct) {
    byte[] frame = ControlFrames.encode(Records.typeOf(record), record);
    byte[] message = damage(frame, new Random(seed));
    String expected = walk(ByteBuffer.wrap(message), 0, message.length);
    for (int poison : POISONS) {
      ByteBuffer around = Bodies.surrounded(message, 7, 12, poison, direct);
      assertThat(walk(around, 7, 7 + message.length)).isEqualTo(expected);
    }
  }

  private static byte[] damage(byte[] body, Random random) {
    byte[] damaged = body.clone();
    for (int n = random.nextInt(4); n > 0 && damaged.length > 0; n--) {
      damaged[random.nextInt(damaged.length)] =
          switch (random.nextInt(4)) {
            case 0 -> (byte) random.nextInt(256);
            case 1 -> (byte) 0x80;
            case 2 -> (byte) 0xFF;
            default -> (byte) (1 + random.nextInt(8));
          };
    }
    return random.nextBoolean()
        ? damaged
        : Arrays.copyOf(damaged, random.nextInt(damaged.length + 1));
  }

  private static void assertSameWhateverIsAround(
      TypeCode type, byte[] body, int before, boolean direct) {
    Bodies.Reader reader = Bodies.READERS.get(type);
    assertThat(reader).isNotNull();
    String expected = outcome(reader, ByteBuffer.wrap(body), 0, body.length);
    for (int poison : POISONS) {
      ByteBuffer around = Bodies.surrounded(body, before, 12, poison, direct);
      String found = outcome(reader, around, before, before + body.length);
      assertThat(found).isEqualTo(expected);
      // With the limit at the end of the body, any look beyond it would be an exception.
      around.limit(before + body.length);
      assertThat(outcome(reader, around, before, before + body.length)).isEqualTo(found);
      assertThat(around.position()).isZero();
    }
  }

  /** Returns the content, or the reason of the refusal; any other exception fails the test. */
  private static String outcome(Bodies.Reader reader, ByteBuffer buf, int from, int to) {
    try {
      return "read " + reader.read(buf, from, to);
    } catch (MalformedFrameException e) {
      return "refused " + e.isTooBig() + " " + e.getMessage();
    }
  }

  private static String walk(ByteBuffer buf, int from, int to) {
    StringBuilder walked = new StringBuilder();
    FrameCursor cursor = new FrameCursor().wrap(buf, from, to);
    try {
      while (cursor.next()) {
        walked.append(cursor.typeCode()).append(' ');
        walked.append(cursor.bodyStart() - from).append(' ');
        walked.append(cursor.bodyEnd() - from).append('\n');
      }
    } catch (MalformedFrameException e) {
      walked.append("refused ").append(e.getMessage());
    }
    return walked.toString();
  }
}
