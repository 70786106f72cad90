/**
 * The registry's state machine: {@link io.eventbus.registry.state.StateMachine#apply} turns a state
 * and a command into the next state and a result. It is pure and deterministic, with no clock, no
 * I/O and no randomness, so that every bus that applies the same commands holds the same state.
 */
package io.eventbus.registry.state;
