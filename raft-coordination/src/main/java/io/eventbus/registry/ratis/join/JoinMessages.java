package io.eventbus.registry.ratis.join;

import io.eventbus.link.BinaryFields;
import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;

/** What buses that look for a cluster ask and answer each other; bytes of a fixed order. */
final class JoinMessages {
  private JoinMessages() {}

  /**
   * A question.
   *
   * @param address where its links listen
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

  /** What a bus wants. */
  enum JoinIntent {
    /** To know where the other one stands. */
    NONE,
    /** That the other one leaves the founding of a cluster to it. */
    PROMISE,
    /**
     * That the cluster forgets what this bus was: it has lost what it had written, and must not
     * vote as if it had not.
     */
    FORGET,
    /** To be a member. */
    MEMBERSHIP,
    /** That the other one joins its cluster. */
    INVITATION
  }

  /** Where a bus stands. */
  enum MemberStatus {
    /** It belongs to no cluster and has promised nothing. */
    FRESH,
    /** It has left the founding to the one that asks. */
    PROMISED,
    /** It has left the founding to another one, or is about to found. */
    WAITING,
    /** It belongs to a cluster. */
    MEMBER
  }

  /**
   * An answer.
   *
   * @param status where it stands
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
