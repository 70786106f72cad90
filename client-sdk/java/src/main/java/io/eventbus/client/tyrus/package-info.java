/**
 * The adapter to Tyrus with the Grizzly client container: Jakarta WebSocket behind the port {@link
 * io.eventbus.client.internal.Transport}. Nothing else in the SDK knows either of them.
 */
package io.eventbus.client.tyrus;
