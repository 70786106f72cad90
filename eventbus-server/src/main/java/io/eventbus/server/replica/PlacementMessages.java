package io.eventbus.server.replica;

import io.eventbus.link.BinaryFields;

/** Messages between buses about the replicas of a shard. Input is checked. */
final class PlacementMessages {
  private PlacementMessages() {}

  /** Operations that the bus that leads a shard carries out. */
  enum Operation {
    /** Lets the replica of the bus that asks follow. */
    FOLLOW,
    /** Moves the vote of a bus to another one. */
    MOVE_VOTE,
    /** Moves the vote of a bus that is to leave, if enough replicas are left. */
    LEAVE,
    /** Takes the replica of a bus away. */
    REMOVE
  }

  /**
   * Request.
   *
   * @param bus the bus that it is about
   * @param generation the generation of its replica; 0 if that does not matter
   * @param address where its links are reached; empty if that does not matter
   */
  record Request(Operation operation, String bus, int generation, String address) {
    static Request about(Operation operation, String bus) {
      return new Request(operation, bus, 0, "");
    }

    byte[] encode() {
      return BinaryFields.encode(
          out -> {
            out.writeUTF(operation.name());
            out.writeUTF(bus);
            out.writeInt(generation);
            out.writeUTF(address);
          });
    }

    static Request decode(byte[] bytes) {
      return BinaryFields.decode(
          bytes,
          in ->
              new Request(
                  Operation.valueOf(in.readUTF()), in.readUTF(), in.readInt(), in.readUTF()));
    }
  }

  /** Outcomes of a request. */
  enum Outcome {
    /** Another bus leads. */
    NOT_LEADING,
    /** Nothing is left to do. */
    DONE,
    /** Something is under way: asking again tells whether it is done. */
    WAITING,
    /** The request makes no sense, or would do harm. */
    REFUSED
  }

  /**
   * Answer.
   *
   * @param detail for people; may be empty
   */
  record Answer(Outcome outcome, String detail) {
    byte[] encode() {
      return BinaryFields.encode(
          out -> {
            out.writeUTF(outcome.name());
            out.writeUTF(detail);
          });
    }

    static Answer decode(byte[] bytes) {
      return BinaryFields.decode(
          bytes, in -> new Answer(Outcome.valueOf(in.readUTF()), in.readUTF()));
    }
  }
}
