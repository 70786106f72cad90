package io.eventbus.server.durable;

/**
 * Figures of all journals together, which may be some seconds old.
 *
 * @param journals number of journals
 * @param bytes size of the stored events
 * @param pendingBytes bytes of publications that wait for the disk now
 */
public record DurableFigures(long journals, long bytes, long events, long pendingBytes) {
  /** Figures of a bus without journals. */
  public static final DurableFigures NONE = new DurableFigures(0, 0, 0, 0);
}
