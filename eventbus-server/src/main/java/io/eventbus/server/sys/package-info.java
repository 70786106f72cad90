/**
 * Topics {@code $SYS.bus.NAME.…}, on which a bus reports its health and its events to its clients
 * and those of peers.
 */
package io.eventbus.server.sys;
