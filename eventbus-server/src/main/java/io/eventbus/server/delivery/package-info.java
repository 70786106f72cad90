/**
 * Events and other frames on their way to clients: shared by all clients that get them, and handed
 * over between loops. Clients are known only as {@link io.eventbus.server.delivery.Subscriber}.
 */
package io.eventbus.server.delivery;
