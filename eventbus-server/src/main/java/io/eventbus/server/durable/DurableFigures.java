package io.eventbus.server.durable;

import java.util.Map;

/**
 * Figures of all journals together, which may be some seconds old.
 *
 * @param journals number of journals
 * @param bytes size of the stored events
 * @param subscriptions number of durable subscriptions
 * @param maxLag positions that the durable subscription furthest behind has not settled
 * @param pendingBytes bytes of publications that wait for the disk now
 * @param accounts what each account has; empty for the default account
 */
public record DurableFigures(
    long journals,
    long bytes,
    long events,
    long subscriptions,
    long maxLag,
    long pendingBytes,
    Map<String, Account> accounts) {
  /** Figures of a bus without journals. */
  public static final DurableFigures NONE = new DurableFigures(0, 0, 0, 0, 0, 0, Map.of());

  /** Copies the map. */
  public DurableFigures {
    accounts = Map.copyOf(accounts);
  }

  /**
   * Figures of the journals of an account.
   *
   * @param journals number of journals
   * @param bytes size of the stored events, with those that wait for their time
   */
  public record Account(long journals, long bytes) {
    /** Figures of an account without journals. */
    public static final Account NONE = new Account(0, 0);
  }
}
