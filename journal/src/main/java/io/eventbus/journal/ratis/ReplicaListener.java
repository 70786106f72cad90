package io.eventbus.journal.ratis;

/**
 * Listener for what happens to the replica of this bus. Called on any thread: must not wait, and
 * must not throw.
 */
public interface ReplicaListener {
  /** Listener that does nothing. */
  ReplicaListener NONE = new ReplicaListener() {};

  /** Called when the replica has failed; it is opened anew, again and again. */
  default void failed(String reason) {}

  /** Called when the replica is open again after a failure. */
  default void opened() {}

  /**
   * Called when a copy of another replica's rows begins, or begins anew.
   *
   * @param source as in {@link ShardMember#id}
   */
  default void copying(String source) {}

  /** Called when a copy has failed, for another reason than the one before. */
  default void copyFailed(String reason) {}

  /** Called when a copy is complete; the replica has to catch up then. */
  default void copied(String source, long bytes) {}

  /**
   * Called when events of a journal cannot be read here, once for each journal until the next start
   * or copy.
   *
   * @param journal its name
   */
  default void damaged(String journal, String reason) {}
}
