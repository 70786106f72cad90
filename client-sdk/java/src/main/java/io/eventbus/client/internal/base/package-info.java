/**
 * Parts that the ways in and out and the connection share: clocks, threads, calls of the listener,
 * completion of stages. {@link io.eventbus.client.internal.base.Transport} is the port to the
 * network.
 */
@org.jspecify.annotations.NullMarked
package io.eventbus.client.internal.base;
