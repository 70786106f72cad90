package io.eventbus.loadtest.faults.run;

import io.eventbus.loadtest.faults.buses.FaultBuses;
import io.eventbus.loadtest.faults.clients.FaultCrowd;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Thread that asks the buses again and again how far durable subscriptions are settled. */
final class SettlementPoll {
  private static final long EVERY_MILLIS = 300;

  private final CountDownLatch stopped = new CountDownLatch(1);

  private SettlementPoll() {}

  static SettlementPoll start(FaultBuses buses, FaultCrowd crowd) {
    SettlementPoll poll = new SettlementPoll();
    BusesAsked asked = new BusesAsked(buses);
    Thread thread = new Thread(() -> poll.run(asked, crowd), "settlements");
    thread.setDaemon(true);
    thread.start();
    return poll;
  }

  private void run(BusesAsked asked, FaultCrowd crowd) {
    try {
      while (!stopped.await(EVERY_MILLIS, TimeUnit.MILLISECONDS)) {
        crowd.settled(asked::settled);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends it after the questions that are under way. */
  void stop() {
    stopped.countDown();
  }
}
