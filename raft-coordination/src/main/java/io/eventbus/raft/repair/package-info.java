/**
 * What mends faults of Apache Ratis 3.3.0 or reaches behind its interfaces, each in a class of its
 * own that says what is wrong, and when it can be removed. The tests in {@code RatisFaultsTest} run
 * Ratis without the repairs and fail when one is no longer needed.
 */
package io.eventbus.raft.repair;
