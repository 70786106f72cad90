/**
 * Hundreds of buses in one process, with time and network of its own: more than any machine at
 * hand. The routing, interest, lane and balance code is the real one; docs/simulation.md describes
 * the model.
 */
package io.eventbus.simulation;
