package io.eventbus.server.replica;

import io.eventbus.link.LinkNode;
import io.eventbus.registry.Registry;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Place of a bus in its cluster.
 *
 * @param bus the name of the bus
 * @param cluster the id of the cluster; empty before it is known
 * @param links the links to the other buses, which outlive the replica
 * @param address where other buses reach these links, as {@code host:port}
 * @param replaceAfter how long a bus must have been away before its vote goes to another one
 */
public record ReplicaPlace(
    String bus,
    Registry registry,
    Supplier<String> cluster,
    LinkNode links,
    String address,
    Duration replaceAfter) {}
