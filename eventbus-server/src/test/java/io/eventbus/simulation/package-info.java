/**
 * Hundreds of buses in one process, with time and network of its own: what no machine at hand can
 * show. The routing, interest, lane and balance code is the real one; docs/simulation.md says what
 * is modelled.
 */
package io.eventbus.simulation;
