/**
 * Lanes: ordered transport of events from one bus to another that keeps frames until they are
 * acknowledged, and resumes after a lost connection. Received frames go to the ports {@link
 * io.eventbus.server.federation.lane.ForwardHandler} and {@link
 * io.eventbus.server.federation.lane.PeerListener}.
 */
package io.eventbus.server.federation.lane;
