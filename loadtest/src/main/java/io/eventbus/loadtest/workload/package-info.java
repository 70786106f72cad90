/** Workloads, read from YAML files and checked. Nothing here runs anything. */
package io.eventbus.loadtest.workload;
