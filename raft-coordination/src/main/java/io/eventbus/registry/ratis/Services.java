package io.eventbus.registry.ratis;

import java.util.Set;

/** The numbers of the registry's services, and the channels that keep them apart. */
final class Services {
  static final int REQUEST_VOTE = 1;
  static final int APPEND_ENTRIES = 2;
  static final int INSTALL_SNAPSHOT = 3;
  static final int START_ELECTION = 4;
  static final int COMMAND = 10;
  static final int READ = 11;
  static final int PROBE = 20;
  static final int JOIN = 21;
  static final int ADMINISTRATION = 30;

  /** Heartbeats, votes and log entries; never behind other bytes on their connection. */
  static final String RAFT = "raft";

  static final String SNAPSHOTS = "raft-snapshots";
  static final String COMMANDS = "registry";

  /**
   * What one thread of its own drives: a command that comes in becomes entries that go out, and
   * their answers come in, without a change of threads.
   */
  static final Set<String> QUICK = Set.of(RAFT, COMMANDS);

  private Services() {}
}
