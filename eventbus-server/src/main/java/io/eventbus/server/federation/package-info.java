/**
 * Several buses as one: lanes that carry events between buses, what each bus tells the others of
 * its subscriptions, and the trees along which events are passed on. {@link
 * io.eventbus.server.federation.Federation} is one bus's end of all that; routing knows it as a
 * forwarder, sessions as the promises that hold in the whole cluster.
 */
package io.eventbus.server.federation;
