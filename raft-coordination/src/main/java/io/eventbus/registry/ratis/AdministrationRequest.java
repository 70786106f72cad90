package io.eventbus.registry.ratis;

import io.eventbus.link.LinkServiceException;
import io.eventbus.registry.BusId;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * What an operator asks the leader for; bytes of a fixed order.
 *
 * @param operation what
 * @param bus to whom
 * @param other another bus that it is about; null for none
 * @param again whether this may have been carried out before: then it is no error to find it done
 * @param millis the longest time to take
 */
record AdministrationRequest(
    Operation operation, BusId bus, @Nullable BusId other, boolean again, int millis) {
  /** What operators ask for. */
  enum Operation {
    /** To lead. */
    TRANSFER,
    /** To vote, instead of the other one. */
    PROMOTE,
    /** To vote no more. */
    DEMOTE,
    /** To be taken out and forgotten, although it does not answer. */
    REMOVE,
    /** To be taken out and forgotten, by a bus of itself. */
    LEAVE
  }

  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(1);
      out.writeUTF(operation.name());
      out.writeUTF(bus.value());
      out.writeUTF(other == null ? "" : other.value());
      out.writeBoolean(again);
      out.writeInt(millis);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  static AdministrationRequest decode(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      byte version = in.readByte();
      if (version != 1) {
        throw new IOException("version: " + version + " (expected: 1)");
      }
      Operation operation = Operation.valueOf(in.readUTF());
      BusId bus = new BusId(in.readUTF());
      String other = in.readUTF();
      return new AdministrationRequest(
          operation,
          bus,
          other.isEmpty() ? null : new BusId(other),
          in.readBoolean(),
          Math.max(1, in.readInt()));
    } catch (IOException | IllegalArgumentException e) {
      throw new LinkServiceException(CommandService.MALFORMED, String.valueOf(e.getMessage()));
    }
  }
}
