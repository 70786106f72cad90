/**
 * Calls between buses: to each peer that serves, each loop opens a stream, by which its calls go
 * there and the answers come back. Sent frames are kept until they are acknowledged, and sent again
 * after a cut.
 */
package io.eventbus.server.federation.call;
