package io.eventbus.raft;

/**
 * Numbers of the Raft services of a server on a link, and the channels that keep their bytes apart.
 *
 * @param first number of the first of four services; the others follow
 * @param channel channel of heartbeats, votes and log entries; never behind other bytes on their
 *     connection
 */
public record RaftServices(int first, String channel) {
  /** Channel of {@link #DEFAULT}. */
  public static final String RAFT = "raft";

  /** Services of the first server of a bus. */
  public static final RaftServices DEFAULT = new RaftServices(1, RAFT);

  int requestVote() {
    return first;
  }

  int appendEntries() {
    return first + 1;
  }

  int installSnapshot() {
    return first + 2;
  }

  int startElection() {
    return first + 3;
  }

  String snapshotChannel() {
    return channel + "-snapshots";
  }
}
