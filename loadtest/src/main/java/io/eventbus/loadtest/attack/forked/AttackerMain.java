package io.eventbus.loadtest.attack.forked;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.AttackTally;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.hostile.Attacks;
import io.eventbus.loadtest.attack.wire.Wires;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The program of the process: takes orders, says when it is ready, attacks when it is told to, ends
 * all connections, and writes down what it saw. It ends when its input does.
 */
public final class AttackerMain {
  static final String READY = "ready to attack";
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int THREADS = 2;
  private static final int GRACE_SECONDS = 8;

  private AttackerMain() {}

  /**
   * Runs one attack.
   *
   * @param args where the result goes
   * @throws Exception if there is no result
   */
  public static void main(String[] args) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Orders orders = JSON.readValue(in.readLine(), Orders.class);
    Attack attack =
        Attacks.all().stream()
            .filter(a -> a.name().equals(orders.attack()))
            .findFirst()
            .orElseThrow();
    AttackTally tally = new AttackTally();
    Wires wires = new Wires(orders.bus(), THREADS, orders.sources(), tally.wires());
    Rehearsal.play(orders.bus());
    System.out.println(READY);
    if (in.readLine() == null) {
      System.exit(0);
    }
    Field field = new Field(wires, orders.knobs(), tally, orders.seconds());
    ExecutorService thread = Executors.newSingleThreadExecutor();
    Future<?> running =
        thread.submit(
            () -> {
              attack.run(field);
              return null;
            });
    endWithInput(in, running);
    String error = outcome(running, orders.seconds());
    // Before the connections end: what the attack itself ends is no observation.
    JSON.writeValue(Path.of(args[0]).toFile(), tally.observed(error));
    wires.close();
    System.exit(0);
  }

  private static String outcome(Future<?> running, long seconds) throws InterruptedException {
    try {
      running.get(seconds + GRACE_SECONDS, TimeUnit.SECONDS);
      return "";
    } catch (CancellationException e) {
      // Its starter has seen enough.
      return "";
    } catch (TimeoutException e) {
      return "the attack did not end " + GRACE_SECONDS + " s after its time";
    } catch (ExecutionException e) {
      return String.valueOf(e.getCause());
    }
  }

  private static void endWithInput(BufferedReader in, Future<?> running) {
    Thread reader =
        new Thread(
            () -> {
              try {
                while (in.readLine() != null) {
                  // Whatever is said, the end is meant.
                  break;
                }
              } catch (IOException e) {
                // The starter has gone.
              }
              running.cancel(true);
            },
            "end-with-input");
    reader.setDaemon(true);
    reader.start();
  }
}
