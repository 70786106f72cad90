/**
 * The registry of a cluster: its commands are replicated by a Raft group, and every bus applies
 * them to its own copy. {@link io.eventbus.registry.ratis.RatisRegistry} implements the port.
 */
package io.eventbus.registry.ratis;
