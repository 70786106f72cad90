/**
 * The wire protocol: reading and writing frames over {@link java.nio.ByteBuffer}, topics and
 * filters, the codes that go with them, and the format of durations. Nothing here does I/O or keeps
 * state between calls.
 */
package io.eventbus.protocol;
