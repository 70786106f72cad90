/**
 * Figures and records of a running bus for everything that shows them: the administration port, the
 * topics {@code $SYS}. All of it comes from the port {@link io.eventbus.server.view.BusView}.
 */
package io.eventbus.server.view;
