/**
 * Way of events from the bus to their consumers: subscriptions and services, duplicates and gaps,
 * buffers and their policies. {@link io.eventbus.client.internal.inbound.Dispatcher} is its middle.
 */
@org.jspecify.annotations.NullMarked
package io.eventbus.client.internal.inbound;
