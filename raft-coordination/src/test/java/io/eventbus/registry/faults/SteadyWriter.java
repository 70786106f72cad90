package io.eventbus.registry.faults;

import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Client in a closed loop: changes a topic of its own, and goes on with the next change when the
 * one before is acknowledged. A change without an answer is repeated with the same id at another
 * bus.
 */
final class SteadyWriter implements Runnable {
  /** Acknowledged change; times in nanoseconds, of the process that gave the answer. */
  record Success(int client, long returned, long version) {}

  private static final long DEADLINE_MILLIS = 10_000;

  private final int index;
  private final List<Bus> buses;
  private final Recorder recorder;
  private final ConcurrentLinkedQueue<Success> successes;
  private final CountDownLatch stop;
  private final int thinkMillis;
  private final Random random;
  private int at;
  private long basis;

  SteadyWriter(
      int index,
      Cluster cluster,
      ConcurrentLinkedQueue<Success> successes,
      CountDownLatch stop,
      int thinkMillis) {
    this.index = index;
    this.buses = cluster.buses();
    this.recorder = cluster.recorder();
    this.successes = successes;
    this.stop = stop;
    this.thinkMillis = thinkMillis;
    this.random = new Random(index);
    this.at = index % buses.size();
  }

  @Override
  public void run() {
    String topic = "steady." + index;
    long revision = 0;
    try {
      for (long i = 0; stop.getCount() > 0; i++) {
        String command =
            revision == 0
                ? " create " + topic + " v" + i
                : " change " + topic + " v" + i + " " + revision;
        Answer answer = untilAnswered(command);
        if (answer == null) {
          return;
        }
        if (!answer.kind().equals("applied")) {
          recorder.finding("client " + index + ": '" + command + "' was answered " + answer);
          return;
        }
        revision = answer.number(1);
        successes.add(new Success(index, answer.returned(), revision));
        if (thinkMillis > 0) {
          var unused = stop.await(random.nextInt(2 * thinkMillis), TimeUnit.MILLISECONDS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private @Nullable Answer untilAnswered(String command) throws InterruptedException {
    String request =
        "submit "
            + basis
            + " "
            + random.nextLong()
            + " "
            + random.nextLong()
            + " "
            + DEADLINE_MILLIS
            + command;
    while (stop.getCount() > 0) {
      try {
        Answer answer =
            buses.get(at).ask(request).get(DEADLINE_MILLIS + 1_000, TimeUnit.MILLISECONDS);
        if (!answer.kind().equals("error")) {
          basis = answer.localVersion();
          return answer;
        }
      } catch (ExecutionException | TimeoutException e) {
        // Its bus has ended, or is silent.
      }
      at = (at + 1) % buses.size();
      var unused = stop.await(2, TimeUnit.MILLISECONDS);
    }
    return null;
  }
}
