/** Who belongs to a Raft group, and at which addresses its members are reached. */
package io.eventbus.raft.members;
