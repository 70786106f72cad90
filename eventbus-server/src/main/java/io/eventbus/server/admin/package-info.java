/**
 * Administration port: health, metrics and the API for people and machines that operate a bus. It
 * sees the bus only through the ports {@link io.eventbus.server.view.BusView} and {@link
 * io.eventbus.server.view.BusStats}, never its sockets.
 */
package io.eventbus.server.admin;
