/**
 * Command {@code eventbus}: finds the requested command and runs it; starts a bus. Results go to
 * standard output, everything else to standard error.
 */
package io.eventbus.cli;
