/**
 * Replica of the journals at a bus of a cluster: its files and its opening, the placement of all
 * replicas, and what all buses have to know.
 */
@NullMarked
package io.eventbus.server.replica;

import org.jspecify.annotations.NullMarked;
