package io.eventbus.raft;

import java.time.Duration;

/**
 * Settings of the messages between the servers of some groups, the same at all members.
 *
 * @param services numbers and channels, which no other server of the bus uses
 * @param content name of the log for messages to operators, as "the registry's log"
 * @param timeout time within which a small message is answered, at most the minimum election
 *     time-out
 * @param firstEntriesTimeout time within which the first entries are answered of a bus that is
 *     admitted, see {@link #FIRST_ENTRIES}
 * @param snapshotTimeout time within which a part of a snapshot is answered
 * @param commitDelay time without a message after which a follower is told what is committed; well
 *     above the time between entries under load
 */
public record TransportSettings(
    RaftServices services,
    String content,
    Duration timeout,
    Duration firstEntriesTimeout,
    Duration snapshotTimeout,
    Duration commitDelay) {
  /**
   * Timeout of entries to a bus that this leader has admitted. Its process has just started, and
   * the first entries take it longer than anything later; and Ratis fails on the same entries a
   * second time while it is busy with them. With small messages below the time after which Ratis
   * gives up admitting a bus (three of the longer election time-outs, one of which has passed when
   * it begins). Ratis says the same of a listener for as long as the leader leads that admitted it.
   */
  public static final Duration FIRST_ENTRIES = Duration.ofSeconds(1);
}
