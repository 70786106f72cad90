/** Joining: how a bus finds its cluster or begins one, becomes a member, and is admitted again. */
package io.eventbus.registry.ratis.join;
