package io.eventbus.registry.ratis;

import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;

/** What buses that look for a cluster ask and answer each other; bytes of a fixed order. */
final class Probe {
  private Probe() {}

  /**
   * A question.
   *
   * @param bus who asks
   * @param instance the number of its process
   * @param address where its links listen
   * @param wish what it wants beside an answer
   */
  record Question(BusId bus, long instance, Endpoint address, Wish wish) {
    byte[] encode() {
      return FixedOrder.encode(
          out -> {
            out.writeUTF(bus.value());
            out.writeLong(instance);
            out.writeUTF(address.host());
            out.writeInt(address.port());
            out.writeUTF(wish.name());
          });
    }

    static Question decode(byte[] bytes) {
      return FixedOrder.decode(
          bytes,
          in ->
              new Question(
                  new BusId(in.readUTF()),
                  in.readLong(),
                  new Endpoint(in.readUTF(), in.readInt()),
                  Wish.valueOf(in.readUTF())));
    }
  }

  /** What a bus wants. */
  enum Wish {
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
  enum Standing {
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
   * @param bus who answers
   * @param instance the number of its process
   * @param standing where it stands
   * @param cluster its cluster; empty for none
   */
  record Answer(BusId bus, long instance, Standing standing, String cluster) {
    byte[] encode() {
      return FixedOrder.encode(
          out -> {
            out.writeUTF(bus.value());
            out.writeLong(instance);
            out.writeUTF(standing.name());
            out.writeUTF(cluster);
          });
    }

    static Answer decode(byte[] bytes) {
      return FixedOrder.decode(
          bytes,
          in ->
              new Answer(
                  new BusId(in.readUTF()),
                  in.readLong(),
                  Standing.valueOf(in.readUTF()),
                  in.readUTF()));
    }
  }
}
