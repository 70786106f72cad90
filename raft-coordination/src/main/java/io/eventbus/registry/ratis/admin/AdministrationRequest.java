package io.eventbus.registry.ratis.admin;

import io.eventbus.link.BinaryFields;
import io.eventbus.registry.BusId;
import java.io.DataInputStream;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Request of an operator to the leader; bytes in a fixed order.
 *
 * @param other another bus that it is about; null for none
 * @param again whether this may have been carried out before: then it is no error to find it done
 * @param millis the longest time to take
 */
record AdministrationRequest(
    Operation operation, BusId bus, @Nullable BusId other, boolean again, int millis) {
  /** Operations for operators. */
  enum Operation {
    /** Makes the bus the leader. */
    TRANSFER,
    /** Gives the bus a vote, instead of the other one. */
    PROMOTE,
    /** Takes the vote from the bus. */
    DEMOTE,
    /** Removes a bus from the members and the registry, although it does not answer. */
    REMOVE,
    /** Removes the requesting bus from the members and the registry. */
    LEAVE
  }

  byte[] encode() {
    return BinaryFields.encode(
        out -> {
          out.writeUTF(operation.name());
          out.writeUTF(bus.value());
          out.writeUTF(other == null ? "" : other.value());
          out.writeBoolean(again);
          out.writeInt(millis);
        });
  }

  static AdministrationRequest decode(byte[] bytes) {
    return BinaryFields.decode(bytes, AdministrationRequest::read);
  }

  private static AdministrationRequest read(DataInputStream in) throws IOException {
    Operation operation = Operation.valueOf(in.readUTF());
    BusId bus = new BusId(in.readUTF());
    String other = in.readUTF();
    return new AdministrationRequest(
        operation,
        bus,
        other.isEmpty() ? null : new BusId(other),
        in.readBoolean(),
        Math.max(1, in.readInt()));
  }
}
