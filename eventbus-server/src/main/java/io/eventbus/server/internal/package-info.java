/**
 * The bus as a client of itself: publishes what the bus has to tell by the way that clients' events
 * take, and knows nothing of what that is.
 */
package io.eventbus.server.internal;
