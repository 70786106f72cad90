/** NATS: its server in a process of its own, and jnats over WebSocket or over plain TCP. */
package io.eventbus.loadtest.driver.nats;
