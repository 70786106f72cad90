/** Commands that try out what a roles file allows, without a bus. */
package io.eventbus.cli.permissions;
