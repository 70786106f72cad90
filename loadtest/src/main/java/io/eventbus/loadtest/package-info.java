/**
 * The command that runs load tests: which workloads, against which systems, how often, and where
 * the results go.
 */
package io.eventbus.loadtest;
