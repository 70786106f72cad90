/** The bus's side of WebSocket connections, controlled by a script. */
package io.eventbus.conformance.wire;
