package io.eventbus.loadtest.journal;

import java.util.Locale;

/**
 * Figures of a run.
 *
 * @param events events that were written
 * @param eventBytes bytes of their payloads
 * @param writeSeconds time until all was on the disk
 * @param writeCores processors that this took
 * @param fileBytes bytes that the process wrote into files meanwhile; -1 where the system does not
 *     tell
 * @param spaceBytes size of the directory at the end
 * @param maxSpaceBytes largest size of the directory
 * @param p50Millis half of the writes took no longer
 * @param p99Millis 99 % of the writes took no longer
 * @param maxMillis no write took longer
 * @param stalls writes that had to wait for room
 * @param scanBytes bytes that were read afterwards, of all that was kept
 * @param scanSeconds time that this took
 * @param scanCores processors that this took
 */
public record JournalStoreResult(
    long events,
    long eventBytes,
    double writeSeconds,
    double writeCores,
    long fileBytes,
    long spaceBytes,
    long maxSpaceBytes,
    double p50Millis,
    double p99Millis,
    double maxMillis,
    long stalls,
    long scanBytes,
    double scanSeconds,
    double scanCores) {
  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        """
        written     %,d events, %.0f MB of payload: %.1f MB/s, %,.0f events/s, %.2f cores
        to files    %s bytes for a byte of payload
        space       %.0f MB at the end, at most %.0f MB
        a write     p50 %.3f ms, p99 %.3f ms, max %.1f ms, %d stalls
        scan        %.0f MB: %.0f MB/s, %.2f cores
        """,
        events,
        eventBytes / 1e6,
        eventBytes / 1e6 / writeSeconds,
        events / writeSeconds,
        writeCores,
        fileBytes < 0 ? "?" : String.format(Locale.ROOT, "%.2f", (double) fileBytes / eventBytes),
        spaceBytes / 1e6,
        maxSpaceBytes / 1e6,
        p50Millis,
        p99Millis,
        maxMillis,
        stalls,
        scanBytes / 1e6,
        scanBytes / 1e6 / scanSeconds,
        scanCores);
  }
}
