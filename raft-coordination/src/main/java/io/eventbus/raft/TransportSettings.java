package io.eventbus.raft;

import java.time.Duration;

/**
 * Settings of the messages between the servers of some groups, the same at all members.
 *
 * @param services numbers and channels, which no other server of the bus uses
 * @param content name of the log for messages to operators, as "the registry's log"
 * @param timeout time within which a small message is answered, at most the minimum election
 *     time-out
 * @param snapshotTimeout time within which a part of a snapshot is answered
 * @param commitDelay time without a message after which a follower is told what is committed; well
 *     above the time between entries under load
 */
public record TransportSettings(
    RaftServices services,
    String content,
    Duration timeout,
    Duration snapshotTimeout,
    Duration commitDelay) {}
