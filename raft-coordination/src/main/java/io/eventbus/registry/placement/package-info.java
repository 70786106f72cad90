/**
 * Placement of shards on buses: {@link io.eventbus.registry.placement.ShardPlacement} says which
 * replicas are wanted, and is pure.
 */
package io.eventbus.registry.placement;
