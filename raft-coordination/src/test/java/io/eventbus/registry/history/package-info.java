/**
 * Checks of the views of a registry's clients against the pure state machine. They know nothing of
 * processes and networks: their input is a history, their output the errors in it.
 */
package io.eventbus.registry.history;
