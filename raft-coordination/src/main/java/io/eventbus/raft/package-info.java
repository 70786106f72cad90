/**
 * Integration of Apache Ratis: its transport over the links between buses, its settings, the log
 * that a leader sends to its followers, group commit, and snapshot files. A server may have several
 * Raft groups; their content is not known here.
 */
package io.eventbus.raft;
