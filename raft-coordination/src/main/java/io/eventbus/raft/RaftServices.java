package io.eventbus.raft;

/** Numbers of the Raft services on a link, and the channels that keep their bytes apart. */
public final class RaftServices {
  static final int REQUEST_VOTE = 1;
  static final int APPEND_ENTRIES = 2;
  static final int INSTALL_SNAPSHOT = 3;
  static final int START_ELECTION = 4;

  /** Channel of heartbeats, votes and log entries; never behind other bytes on their connection. */
  public static final String RAFT = "raft";

  static final String SNAPSHOTS = "raft-snapshots";

  private RaftServices() {}
}
