package io.eventbus.loadtest.journal;

import java.util.Locale;

/**
 * Figures of a run.
 *
 * @param events events that were confirmed
 * @param eventBytes bytes of their payloads
 * @param seconds time that this took
 * @param cpuSeconds time of processors that this took
 * @param fileBytes bytes that the process wrote into files meanwhile; -1 where the system does not
 *     tell
 * @param collections pauses of the garbage collector
 * @param collectionMillis what these took together
 * @param p50Millis half of the publications were confirmed within this time
 * @param p99Millis 99 % of the publications were confirmed within this time
 * @param maxMillis all publications were confirmed within this time
 * @param full how often there was no room
 */
public record JournalShardResult(
    long events,
    long eventBytes,
    double seconds,
    double cpuSeconds,
    long fileBytes,
    long collections,
    long collectionMillis,
    double p50Millis,
    double p99Millis,
    double maxMillis,
    long full) {
  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        """
        confirmed   %,d events, %.0f MB of payload: %.1f MB/s, %,.0f events/s
        processors  %.2f cores, %.2f us for a KiB of payload
        to files    %s bytes for a byte of payload
        a frame     p50 %.3f ms, p99 %.3f ms, max %.1f ms; %d times no room
        collector   %d collections, %d ms
        """,
        events,
        eventBytes / 1e6,
        eventBytes / 1e6 / seconds,
        events / seconds,
        cpuSeconds / seconds,
        cpuSeconds * 1e6 / (eventBytes / 1024.0),
        fileBytes < 0 ? "?" : String.format(Locale.ROOT, "%.2f", (double) fileBytes / eventBytes),
        p50Millis,
        p99Millis,
        maxMillis,
        full,
        collections,
        collectionMillis);
  }
}
