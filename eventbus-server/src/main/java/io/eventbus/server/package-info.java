/**
 * Bus that puts the parts together, starts them and ends them in order. Only the command line and
 * tests use it.
 */
package io.eventbus.server;
