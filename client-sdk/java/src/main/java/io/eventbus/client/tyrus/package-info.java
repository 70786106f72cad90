/**
 * Adapter to Tyrus and Grizzly: Jakarta WebSocket behind the port {@link
 * io.eventbus.client.internal.base.Transport}, in a container that all clients of a JVM share.
 * Nothing else in the SDK knows any of them.
 */
package io.eventbus.client.tyrus;
