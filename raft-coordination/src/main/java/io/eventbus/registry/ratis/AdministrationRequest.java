package io.eventbus.registry.ratis;

import io.eventbus.link.LinkServiceException;
import io.eventbus.registry.BusId;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * What an operator asks the leader for; bytes of a fixed order.
 *
 * @param operation what
 * @param bus to whom
 * @param again whether this may have been carried out before: then it is no error to find it done
 * @param millis the longest time to take
 */
record AdministrationRequest(Operation operation, BusId bus, boolean again, int millis) {
  /** What operators ask for. */
  enum Operation {
    /** To lead. */
    TRANSFER,
    /** To be taken out and forgotten, by a bus of itself. */
    LEAVE
  }

  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(1);
      out.writeUTF(operation.name());
      out.writeUTF(bus.value());
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
      return new AdministrationRequest(
          Operation.valueOf(in.readUTF()),
          new BusId(in.readUTF()),
          in.readBoolean(),
          Math.max(1, in.readInt()));
    } catch (IOException | IllegalArgumentException e) {
      throw new LinkServiceException(CommandService.MALFORMED, String.valueOf(e.getMessage()));
    }
  }
}
