/**
 * Way of events and calls to the bus: batches, their confirmations, barriers. {@link
 * io.eventbus.client.internal.outbound.Outbox} is its middle; knows one connection at a time, and
 * nothing of how it came to be.
 */
@org.jspecify.annotations.NullMarked
package io.eventbus.client.internal.outbound;
