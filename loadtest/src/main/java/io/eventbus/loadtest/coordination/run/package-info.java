/**
 * The driver for workloads with registers: clients in closed loops, and servers that are killed.
 */
package io.eventbus.loadtest.coordination.run;
