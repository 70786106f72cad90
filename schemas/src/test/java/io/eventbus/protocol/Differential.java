package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Consume;
import io.eventbus.schema.Failure;
import io.eventbus.schema.Gap;
import io.eventbus.schema.Invoke;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Register;
import io.eventbus.schema.Request;
import io.eventbus.schema.Settle;
import io.eventbus.schema.SettleOutcome;
import io.eventbus.schema.Truncated;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.specific.SpecificRecord;

/**
 * Comparison with the Avro library, which must read the same as our readers: a bus passes bytes on
 * that were checked only here, and a subscriber must never be the first to stumble over them.
 */
final class Differential {
  private Differential() {}

  /** Returns whether our reader accepted the body; any exception but the one allowed gets out. */
  static boolean check(TypeCode type, byte[] body) {
    SpecificRecord ours;
    try {
      ours = Bodies.read(type, body);
    } catch (MalformedFrameException e) {
      assertThat(e.getMessage()).isNotEmpty();
      return false;
    }
    // Zeros at the end are null, BLOCK, "" and empty: the defaults of fields that are missing.
    byte[] whole = Arrays.copyOf(body, body.length + 9);
    SpecificRecord theirs;
    try {
      theirs = Bodies.avroPrefix(ours.getSchema(), whole);
    } catch (AvroRuntimeException | IndexOutOfBoundsException e) {
      if (ours instanceof Problem
          || ours instanceof Gap
          || ours instanceof ChangeBus
          || ours instanceof Request
          || ours instanceof Invoke
          || ours instanceof Failure
          || ours instanceof Consume
          || ours instanceof Settle
          || ours instanceof Truncated) {
        // A symbol that this version does not know; the library gives up, we take the default.
        return true;
      }
      throw e;
    }
    if (ours instanceof Problem problem && problem.getTypeCode() == -1) {
      ((Problem) theirs).setTypeCode(-1);
    }
    if (ours instanceof Confirm confirm && confirm.getReceivers() == -1) {
      ((Confirm) theirs).setReceivers(-1L);
    }
    if (ours instanceof Register register && register.getConcurrency() == 16) {
      ((Register) theirs).setConcurrency(16);
    }
    if (ours instanceof Register register && register.getOverflow() == Overflow.DROP_OLDEST) {
      ((Register) theirs).setOverflow(Overflow.DROP_OLDEST);
    }
    if (ours instanceof Settle settle && settle.getDelayMillis() == -1) {
      ((Settle) theirs).setDelayMillis(-1);
    }
    if (ours instanceof Settle settle && settle.getOutcome() == SettleOutcome.DONE) {
      ((Settle) theirs).setOutcome(SettleOutcome.DONE);
    }
    assertThat(ours).isEqualTo(theirs);
    return true;
  }

  /** Walks over a message as a bus does, and reads every frame of a known type. */
  static void checkMessage(byte[] message) {
    FrameCursor cursor = new FrameCursor().wrap(ByteBuffer.wrap(message), 0, message.length);
    int end = 0;
    try {
      while (cursor.next()) {
        assertThat(cursor.frameStart()).isEqualTo(end);
        end = cursor.bodyEnd();
        TypeCode type = TypeCode.of(cursor.typeCode());
        if (type != null) {
          check(type, Arrays.copyOfRange(message, cursor.bodyStart(), end));
        }
      }
      assertThat(end).isEqualTo(message.length);
      Bodies.requireFrames(message);
    } catch (MalformedFrameException e) {
      assertThat(e.getMessage()).startsWith("Frame.");
    }
  }
}
