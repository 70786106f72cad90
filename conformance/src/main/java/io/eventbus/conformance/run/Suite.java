package io.eventbus.conformance.run;

import io.eventbus.conformance.scenario.Scenario;
import io.eventbus.conformance.testee.Testee;
import io.eventbus.conformance.wire.ScriptedBus;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Player of many scenarios, several at a time, each seat with a testee of its own. */
public final class Suite implements AutoCloseable {
  private final EventLoopGroup loops = ScriptedBus.loops();
  private final LiveBuses buses = new LiveBuses();
  private final Testee.Factory factory;
  private final Duration within;

  /**
   * Creates a suite.
   *
   * @param within default timeout of a step
   */
  public Suite(Testee.Factory factory, Duration within) {
    this.factory = factory;
    this.within = within;
  }

  /** Returns a new seat; the caller closes it. */
  public Seat seat() {
    return new Seat(factory, loops, buses, within);
  }

  /** Plays scenarios and waits for their outcomes. */
  public List<Outcome> play(List<Scenario> scenarios, int parallel, Consumer<Outcome> progress) {
    Outcome[] outcomes = new Outcome[scenarios.size()];
    AtomicInteger next = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Math.min(parallel, scenarios.size()); i++) {
      Thread thread =
          new Thread(
              () -> {
                try (Seat seat = seat()) {
                  int n;
                  while ((n = next.getAndIncrement()) < outcomes.length) {
                    Outcome outcome = seat.play(scenarios.get(n), null);
                    outcomes[n] = outcome;
                    synchronized (outcomes) {
                      progress.accept(outcome);
                    }
                  }
                }
              },
              "seat-" + i);
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      boolean interrupted = false;
      while (thread.isAlive()) {
        try {
          thread.join();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    return Arrays.asList(outcomes);
  }

  @Override
  public void close() {
    buses.close();
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(5_000);
  }
}
