/** A bus's end of WebSocket connections, which does only what a script says. */
package io.eventbus.conformance.wire;
