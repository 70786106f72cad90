/** The commands that try out what a roles file or a configuration allows, without a bus. */
package io.eventbus.cli.permissions;
