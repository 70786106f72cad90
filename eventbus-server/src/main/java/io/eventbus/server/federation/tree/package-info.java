/**
 * Trees along which events are passed on from bus to bus: the lane by which each topic and producer
 * reaches each bus, and the part that this bus relays.
 */
package io.eventbus.server.federation.tree;
