/**
 * The {@code eventbus} command: starts a bus, publishes, subscribes, shows the demo. Results go to
 * standard output, everything else to standard error.
 */
package io.eventbus.cli;
