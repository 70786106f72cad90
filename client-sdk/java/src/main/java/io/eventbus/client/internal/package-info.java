/**
 * Implementation behind the public API: puts the parts of a client together. Its packages {@code
 * outbound} and {@code inbound} do not know each other, {@code connection} drives both, and all
 * three stand on {@code base}; {@code call} has services and requests and is below all of them.
 */
package io.eventbus.client.internal;
