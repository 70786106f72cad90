/**
 * Membership of this bus in a cluster: its data directory, its links, its place in the registry
 * from joining to leaving, and the search for others on the local network. Nothing on the path of
 * an event waits for it: other packages read values in memory.
 */
package io.eventbus.server.cluster;
