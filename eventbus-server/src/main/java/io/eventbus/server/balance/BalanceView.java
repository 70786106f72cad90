package io.eventbus.server.balance;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Balancing as the administration sees it. Any thread may call any method; none blocks, and stages
 * complete within a few seconds.
 */
public interface BalanceView {
  /**
   * Returns what balancing does.
   *
   * @return a few milliseconds old
   */
  BalanceStatus status();

  /** Lists the buses of the cluster with their load. */
  List<BusLoad> buses();

  /**
   * Tells a bus to move its clients away and take no others, or not to go on with it.
   *
   * @return completes when the bus has begun, or with an {@link IllegalArgumentException} if there
   *     is no such bus, or with what went wrong on the way to it
   */
  CompletionStage<Void> drain(String bus, boolean on);

  /**
   * Asks a client of this bus to go to another one.
   *
   * @param bus where to; empty for whichever has least to do
   * @return completes with the bus when the client was asked, or with an {@link
   *     IllegalArgumentException} if there is no such client or bus, or an {@link
   *     IllegalStateException} if the other bus does not take it
   */
  CompletionStage<String> move(long connection, String bus);
}
