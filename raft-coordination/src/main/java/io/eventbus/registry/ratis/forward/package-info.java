/** Commands and reads on their way to the leader, and into its log. */
package io.eventbus.registry.ratis.forward;
