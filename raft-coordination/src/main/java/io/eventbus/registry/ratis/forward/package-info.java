/** Forwarding of commands and reads to the leader, and into its log. */
package io.eventbus.registry.ratis.forward;
