/**
 * Repairs of faults of Apache Ratis 3.3.0, and classes that reach behind its interfaces, each in a
 * class of its own that says what is wrong, and when it can be removed. The tests in {@code
 * RatisFaultsTest} run Ratis without the repairs and fail when one is no longer needed.
 *
 * <p>These have no such test, so that it has to be checked at each new version whether they can go:
 * {@link io.eventbus.raft.repair.DurableFiles}, because what Ratis forces to the disk cannot be
 * seen from inside of the process; the first fault of {@link io.eventbus.raft.repair.VoterChanges};
 * {@link io.eventbus.raft.repair.LogCacheEviction}, because two threads have to meet; {@link
 * io.eventbus.raft.repair.LeaderCrashDetector} and {@link io.eventbus.raft.repair.EarlyElection},
 * which mend no fault but add something that Ratis does not offer; and {@link
 * io.eventbus.raft.repair.ClassWarmup}, {@link io.eventbus.raft.repair.OfflineLogReader} and {@link
 * io.eventbus.raft.repair.BootstrapSnapshotFiles}, which reach behind its interfaces.
 */
package io.eventbus.raft.repair;
