/**
 * Several buses as one. {@link io.eventbus.server.federation.Federation} combines the lanes between
 * buses, the exchange of interest, and the trees along which events are passed on, and follows the
 * registry. Routing knows it as a forwarder, sessions as guarantees of the whole cluster.
 */
package io.eventbus.server.federation;
