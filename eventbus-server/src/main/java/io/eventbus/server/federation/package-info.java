/**
 * Several buses as one. {@link io.eventbus.server.federation.Federation} puts together the lanes
 * between buses, what buses tell each other of their subscriptions, and the trees along which
 * events are passed on, and follows the registry. Routing knows it as a forwarder, sessions as what
 * is promised in the whole cluster.
 */
package io.eventbus.server.federation;
