/**
 * The bus as a client of itself: publishes the bus's own events like those of clients, and knows
 * nothing of their content.
 */
package io.eventbus.server.internal;
