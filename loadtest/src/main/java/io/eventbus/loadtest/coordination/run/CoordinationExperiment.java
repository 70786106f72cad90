package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationSystem;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * The experiments. Systems take turns in each, so that what changes on the machine meets them all;
 * one that fails becomes a problem in the findings and does not end the others.
 */
public final class CoordinationExperiment {
  /** The name of the phases that warm up. */
  public static final String WARM_UP = "warm-up";

  /** The name of the phases of the paper's table. */
  public static final String TABLE = "table";

  /** The name of the phases with pipelined clients. */
  public static final String PIPELINED = "pipelined";

  /** The name of the phases with transactions. */
  public static final String TRANSACTIONS = "transactions";

  /** The name of the phases in which the leader is killed again and again. */
  public static final String LEADER_KILL = "leader-kill";

  private final CoordinationBench bench;

  /** Makes the experiments. */
  public CoordinationExperiment(
      List<CoordinationSystem> systems,
      Plan plan,
      Path directory,
      Consumer<String> progress,
      Findings findings) {
    this.bench = new CoordinationBench(List.copyOf(systems), plan, directory, progress, findings);
  }

  /**
   * Measures closed-loop clients for every number of servers and clients.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void table() throws InterruptedException {
    new LoadExperiments(bench).table();
  }

  /**
   * Kills servers as the paper does, in every cluster that is large enough.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void failures() throws InterruptedException {
    new FailureExperiments(bench).failures();
  }

  /**
   * Measures clients with many commands in flight, and counts the changes of the leader.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void pipelined() throws InterruptedException {
    new LoadExperiments(bench).pipelined();
  }

  /**
   * Measures transactions: read a list, change it, write it back if nobody else did meanwhile.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void transactions() throws InterruptedException {
    new LoadExperiments(bench).transactions();
  }

  /**
   * Kills the leader again and again.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void leaderKills() throws InterruptedException {
    new FailureExperiments(bench).leaderKills();
  }

  /**
   * Measures when changes are visible on six buses, of which three vote, and how long buses take to
   * join; of the systems that tell.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void visibility() throws InterruptedException {
    new VisibilityExperiment(bench).run();
  }
}
