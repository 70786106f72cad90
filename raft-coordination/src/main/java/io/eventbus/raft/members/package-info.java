/** Members of a Raft group, with the addresses at which they are reached. */
package io.eventbus.raft.members;
