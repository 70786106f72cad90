/**
 * Test vectors for a client library before it has a socket, generated from the parsers and rules of
 * the bus and the Java SDK.
 */
package io.eventbus.conformance.vector;
