/**
 * Runs a workload against a driver and records it: when events are due, how long each took, what
 * they cost, and whether any was lost, doubled or reordered, which is always checked.
 */
package io.eventbus.loadtest.run;
