/** Buses as processes with their data directories, and what can happen to both. */
package io.eventbus.loadtest.faults.buses;
