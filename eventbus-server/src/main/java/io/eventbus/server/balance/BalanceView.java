package io.eventbus.server.balance;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * View of balancing for the administration. Any thread may call any method; none blocks, and stages
 * complete within a few seconds.
 */
public interface BalanceView {
  /** Returns the status, a few milliseconds old. */
  BalanceStatus status();

  /** Returns the buses of the cluster with their load. */
  List<BusLoad> buses();

  /**
   * Orders a bus to move its clients away and take no others, or to stop doing so.
   *
   * @param forGood whether the bus leaves its cluster for good when it ends
   * @return completes when the bus has begun, or with an {@link IllegalArgumentException} if there
   *     is no such bus, or with the error of the request to it
   */
  CompletionStage<Void> drain(String bus, boolean on, boolean forGood);

  /**
   * Asks a client of this bus to move to another bus.
   *
   * @param bus the target; empty for the least loaded one
   * @return completes with the bus when the client was asked, or with an {@link
   *     IllegalArgumentException} if there is no such client or bus, or an {@link
   *     IllegalStateException} if the other bus does not take it
   */
  CompletionStage<String> move(long connection, String bus);
}
