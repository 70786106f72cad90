package io.eventbus.journal.copy;

import io.eventbus.link.BinaryFields;
import java.util.ArrayList;
import java.util.List;

/**
 * State of a replica, as it answers to another one.
 *
 * @param leader the member that leads; empty if none is known
 * @param ready whether the replica has caught up since it was opened
 * @param configured index of the entry by which it knows the members; -1 for none
 * @param voters ids of the members that vote
 * @param listeners ids of the members that only follow
 */
public record ReplicaState(
    String leader, boolean ready, long configured, List<String> voters, List<String> listeners) {
  private static final int MAX_MEMBERS = 1_024;

  /** Copies the lists. */
  public ReplicaState {
    voters = List.copyOf(voters);
    listeners = List.copyOf(listeners);
  }

  /** Encodes the state. */
  byte[] encode() {
    return BinaryFields.encode(
        out -> {
          out.writeUTF(leader);
          out.writeBoolean(ready);
          out.writeLong(configured);
          for (List<String> ids : List.of(voters, listeners)) {
            out.writeInt(ids.size());
            for (String id : ids) {
              out.writeUTF(id);
            }
          }
        });
  }

  /**
   * Decodes a state.
   *
   * @throws io.eventbus.link.LinkServiceException if it is none
   */
  public static ReplicaState decode(byte[] bytes) {
    return BinaryFields.decode(
        bytes,
        in -> {
          String leader = in.readUTF();
          boolean ready = in.readBoolean();
          long configured = in.readLong();
          List<List<String>> members = new ArrayList<>();
          for (int i = 0; i < 2; i++) {
            int count = BinaryFields.count(in, "members", MAX_MEMBERS);
            List<String> ids = new ArrayList<>();
            for (int j = 0; j < count; j++) {
              ids.add(in.readUTF());
            }
            members.add(ids);
          }
          return new ReplicaState(leader, ready, configured, members.get(0), members.get(1));
        });
  }
}
