/** The commands that are clients of a bus: publish, subscribe and the small measurement. */
package io.eventbus.cli.client;
