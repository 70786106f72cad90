/** Commands that are clients of a bus: publish, subscribe, services and the small benchmark. */
package io.eventbus.cli.client;
