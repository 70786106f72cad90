/**
 * The {@code eventbus} command: finds the command that is meant and runs it; starts a bus. Results
 * go to standard output, everything else to standard error.
 */
package io.eventbus.cli;
