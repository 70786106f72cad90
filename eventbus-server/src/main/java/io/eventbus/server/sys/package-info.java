/**
 * The topics {@code $SYS.bus.NAME.…}, on which a bus tells its clients and those of other buses how
 * it is and what happens on it.
 */
package io.eventbus.server.sys;
