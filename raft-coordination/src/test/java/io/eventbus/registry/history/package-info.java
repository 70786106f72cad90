/**
 * Checks what clients of a registry saw against the pure state machine. It knows nothing of
 * processes and networks: a history goes in, what is wrong with it comes out.
 */
package io.eventbus.registry.history;
