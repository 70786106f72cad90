/**
 * Common parts of all commands: streams and variables, failures and exit codes, layout of text,
 * stopping.
 */
package io.eventbus.cli.console;
