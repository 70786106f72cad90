package io.eventbus.link;

/**
 * The other end of a link, as it has introduced itself; it has proved that it holds the cluster's
 * secret or certificate, if there is one.
 *
 * @param name what its cluster is called; empty if it does not care
 * @param cluster the id of its cluster; empty if it has none yet
 * @param bus the id of the bus
 * @param instance a random number of its process
 * @param channel what the link is for, see {@link LinkNode#call}
 */
public record LinkPeer(String name, String cluster, String bus, long instance, String channel) {}
