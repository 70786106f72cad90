/**
 * What every command shares: its streams and variables, how it fails and with which exit code, how
 * text is laid out, how it is stopped.
 */
package io.eventbus.cli.console;
