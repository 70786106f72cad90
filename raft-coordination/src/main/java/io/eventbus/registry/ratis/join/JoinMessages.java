package io.eventbus.registry.ratis.join;

import io.eventbus.link.BinaryFields;
import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;

/** Questions and answers of buses that look for a cluster; bytes in a fixed order. */
final class JoinMessages {
  private JoinMessages() {}

  /**
   * Question.
   *
   * @param address the address of its links
   */
  record Question(BusId bus, long instance, Endpoint address, JoinIntent intent) {
    byte[] encode() {
      return BinaryFields.encode(
          out -> {
            out.writeUTF(bus.value());
            out.writeLong(instance);
            out.writeUTF(address.host());
            out.writeInt(address.port());
            out.writeUTF(intent.name());
          });
    }

    static Question decode(byte[] bytes) {
      return BinaryFields.decode(
          bytes,
          in ->
              new Question(
                  new BusId(in.readUTF()),
                  in.readLong(),
                  new Endpoint(in.readUTF(), in.readInt()),
                  JoinIntent.valueOf(in.readUTF())));
    }
  }

  /** Intent of a question. */
  enum JoinIntent {
    /** Asks for the other one's status. */
    NONE,
    /** Asks the other one to leave the founding of a cluster to this bus. */
    PROMISE,
    /**
     * Asks the cluster to forget what this bus was: it has lost its data, and must not vote as if
     * it had not.
     */
    FORGET,
    /** Asks for membership. */
    MEMBERSHIP,
    /** Asks the other one to join this bus's cluster. */
    INVITATION
  }

  /** Status of a bus. */
  enum MemberStatus {
    /** No cluster, and no promise. */
    FRESH,
    /** Founding left to the asking bus. */
    PROMISED,
    /** Founding left to another bus, or about to begin. */
    WAITING,
    /** Member of a cluster. */
    MEMBER
  }

  /**
   * Answer.
   *
   * @param status the bus's status
   * @param cluster its cluster; empty for none
   */
  record Answer(BusId bus, long instance, MemberStatus status, String cluster) {
    byte[] encode() {
      return BinaryFields.encode(
          out -> {
            out.writeUTF(bus.value());
            out.writeLong(instance);
            out.writeUTF(status.name());
            out.writeUTF(cluster);
          });
    }

    static Answer decode(byte[] bytes) {
      return BinaryFields.decode(
          bytes,
          in ->
              new Answer(
                  new BusId(in.readUTF()),
                  in.readLong(),
                  MemberStatus.valueOf(in.readUTF()),
                  in.readUTF()));
    }
  }
}
