/**
 * This product's registry: each server a process with links and a registry, as in a bus, but
 * without the bus. Clients reach the leader over links.
 */
package io.eventbus.loadtest.coordination.eventbus;
