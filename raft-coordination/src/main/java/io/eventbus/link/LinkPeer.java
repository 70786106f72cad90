package io.eventbus.link;

/**
 * Other end of a link, as it has introduced itself; it has proved that it holds the cluster's
 * secret or certificate, if there is one.
 *
 * @param name the name of its cluster; empty if any will do
 * @param cluster the id of its cluster; empty if it has none yet
 * @param bus the id of the bus
 * @param instance a random number of its process
 * @param channel purpose of the link, see {@link LinkNode#call}
 */
public record LinkPeer(String name, String cluster, String bus, long instance, String channel) {}
