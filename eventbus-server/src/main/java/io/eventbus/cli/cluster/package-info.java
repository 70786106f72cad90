/**
 * Commands for operators of a cluster: its registry and the load of its buses, by the
 * administration API, and the registry's files while no bus runs.
 */
package io.eventbus.cli.cluster;
