/**
 * Calls between buses: to each other bus that serves, each loop opens a stream, by which its calls
 * go there and the answers come back. What was sent is kept until it is acknowledged, and sent
 * again after a cut.
 */
package io.eventbus.server.federation.call;
