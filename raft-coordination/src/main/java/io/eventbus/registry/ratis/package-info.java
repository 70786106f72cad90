/**
 * The registry of a cluster: Apache Ratis replicates the commands, and every bus applies them to
 * its own copy. {@link io.eventbus.registry.ratis.RatisRegistry} implements the port; nothing else
 * of ours uses the engine, and the engine's traffic goes over the links between buses.
 */
package io.eventbus.registry.ratis;
