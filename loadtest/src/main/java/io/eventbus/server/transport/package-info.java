/**
 * Benchmarks of the bus's transport, in its package because what they measure is nobody else's
 * business. Nothing here is part of the bus.
 */
package io.eventbus.server.transport;
