/**
 * Lanes: what carries events from one bus to another in order, keeps them until they are
 * acknowledged, and begins again where a connection has ended. What comes by them is given to the
 * ports {@link io.eventbus.server.federation.lane.ForwardHandler} and {@link
 * io.eventbus.server.federation.lane.PeerListener}.
 */
package io.eventbus.server.federation.lane;
