/**
 * Routing of published frames to the queues of their subscribers, from the routes that each loop
 * remembers. It does no I/O.
 */
package io.eventbus.server.routing;
