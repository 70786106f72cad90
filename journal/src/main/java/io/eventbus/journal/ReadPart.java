package io.eventbus.journal;

import java.nio.ByteBuffer;

/**
 * Events of one topic that follow each other.
 *
 * @param position the position of the first one
 * @param events how many they are
 * @param topic number of the topic in the journal
 * @param frame the {@code Deliver} that holds them, read-only
 */
public record ReadPart(long position, int events, long topic, ByteBuffer frame) {}
