/**
 * The vectors: what a client library can be tested with before it has a socket. They are generated
 * from the parsers and rules that the bus and the Java SDK use.
 */
package io.eventbus.conformance.vector;
