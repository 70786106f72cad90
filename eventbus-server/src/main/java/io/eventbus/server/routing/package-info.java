/**
 * Routing from a published frame to the queues of its subscribers: the index of subscriptions, the
 * routes that each loop remembers, and the hand-over between loops. It knows subscribers only as
 * {@link io.eventbus.server.routing.Subscriber} and does no I/O.
 */
package io.eventbus.server.routing;
