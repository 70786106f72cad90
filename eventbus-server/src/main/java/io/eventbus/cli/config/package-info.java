/** Configuration on the command line: its flags, and the commands that check and print it. */
package io.eventbus.cli.config;
