/**
 * The registry of a bus that runs alone: the state machine in this process, in memory, with no
 * consensus and nothing stored. It keeps the port's guarantees, so that its users need not know
 * whether there are other buses.
 */
package io.eventbus.registry.local;
