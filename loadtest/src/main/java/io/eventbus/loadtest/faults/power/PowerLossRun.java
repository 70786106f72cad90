package io.eventbus.loadtest.faults.power;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverJournal;
import io.eventbus.loadtest.faults.buses.LoopDisk;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Rounds of one system on a file system of its own: a publisher has its events confirmed until the
 * file system loses its power; then the server is killed and started again, and the events are
 * read. For one thread.
 */
public final class PowerLossRun {
  private static final long DISK_BYTES = 1L << 30;
  private static final int WINDOW = 256;
  private static final int PAYLOAD = 128;
  private static final int EVENTS_PER_MILLI = 4;
  private static final int MIN_MILLIS = 500;
  private static final int MORE_MILLIS = 2_000;
  private static final long MARK_SECONDS = 30;
  private static final long POWER_SECONDS = 90;
  private static final Duration READ = Duration.ofMinutes(2);

  private final PowerSystem system;
  private final LoopDisk disk;
  private final Random random;
  private final Consumer<String> out;

  /** Numbers of confirmed events that were not found to be lost; guarded by itself. */
  private final BitSet confirmed = new BitSet();

  private final List<Long> ready = new ArrayList<>();
  private int published;
  private long everConfirmed;
  private long lost;
  private int roundsWithLoss;

  private PowerLossRun(PowerSystem system, LoopDisk disk, long seed, Consumer<String> out) {
    this.system = system;
    this.disk = disk;
    this.random = new Random(seed);
    this.out = out;
  }

  /**
   * Runs all rounds.
   *
   * @param directory where the file system is made
   * @param out is told each round
   */
  public static PowerLossResult run(
      PowerSystem system, int rounds, long seed, Path directory, Consumer<String> out)
      throws InterruptedException {
    try (LoopDisk disk = LoopDisk.create(directory, "disk-" + system.name(), DISK_BYTES, false)) {
      return new PowerLossRun(system, disk, seed, out).run(rounds);
    }
  }

  private PowerLossResult run(int rounds) throws InterruptedException {
    Path data = disk.directory().resolve("data");
    int round = 0;
    String failure = "";
    PowerSystem.@Nullable Server server = null;
    try {
      server = system.start(data);
      while (round < rounds) {
        loseWhilePublishing(server);
        disk.unmount();
        disk.mount();
        long begin = System.nanoTime();
        server = system.start(data);
        ready.add((System.nanoTime() - begin) / 1_000_000);
        compare(server);
        round++;
        out.accept(
            String.format(
                "%s, round %d: %d confirmed so far, %d lost",
                system.name(), round, everConfirmed, lost));
      }
    } catch (DriverException e) {
      failure = String.valueOf(e.getMessage());
      out.accept(system.name() + ": " + failure);
    } finally {
      if (server != null) {
        server.close();
      }
    }
    return new PowerLossResult(
        system.name(),
        system.availability().detail(),
        round,
        everConfirmed,
        lost,
        roundsWithLoss,
        ready,
        failure);
  }

  private void loseWhilePublishing(PowerSystem.Server server) throws InterruptedException {
    int millis = MIN_MILLIS + random.nextInt(MORE_MILLIS);
    try (DriverJournal journal = server.journal()) {
      CompletableFuture<Void> power = CompletableFuture.runAsync(() -> losePower(server, millis));
      publishUntil(power, journal);
      power.get(POWER_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new DriverException("the power is not lost", e);
    } finally {
      server.kill();
      server.close();
    }
  }

  private void publishUntil(Future<Void> power, DriverJournal journal) throws InterruptedException {
    Semaphore window = new Semaphore(WINDOW);
    long begin = System.nanoTime();
    int first = published;
    try {
      while (!power.isDone() && window.tryAcquire(1, TimeUnit.SECONDS)) {
        publish(journal, window);
        long elapsed = (System.nanoTime() - begin) / 1_000_000;
        if (published - first > elapsed * EVENTS_PER_MILLI) {
          TimeUnit.MILLISECONDS.sleep(1);
        }
      }
    } catch (DriverException e) {
      // The connection has ended with the server.
      return;
    }
  }

  private void losePower(PowerSystem.Server server, int millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    // A machine without power answers nobody.
    server.pause();
    disk.losePower();
  }

  private void publish(DriverJournal journal, Semaphore window) {
    int number = ++published;
    byte[] payload = ByteBuffer.allocate(PAYLOAD).putInt(number).array();
    journal.publish(
        payload,
        (position, why) -> {
          if (why == null) {
            synchronized (confirmed) {
              confirmed.set(number);
              everConfirmed++;
            }
          }
          window.release();
        });
  }

  private void compare(PowerSystem.Server server) throws InterruptedException {
    BitSet found = new BitSet();
    try (DriverJournal journal = server.journal()) {
      int mark = mark(journal);
      CountDownLatch all = new CountDownLatch(1);
      Driver.Subscriber reader =
          journal.read(
              1,
              new Driver.Receiver() {
                @Override
                public void onEvent(ByteBuffer payload) {
                  int number = payload.getInt(payload.position());
                  synchronized (found) {
                    found.set(number);
                  }
                  if (number == mark) {
                    all.countDown();
                  }
                }
              });
      boolean read = all.await(READ.toSeconds(), TimeUnit.SECONDS);
      reader.close();
      if (!read) {
        throw new DriverException("the last event is not read after " + READ.toSeconds() + " s");
      }
    }
    synchronized (confirmed) {
      BitSet gone = (BitSet) confirmed.clone();
      synchronized (found) {
        gone.andNot(found);
      }
      confirmed.andNot(gone);
      lost += gone.cardinality();
      roundsWithLoss += gone.isEmpty() ? 0 : 1;
    }
  }

  /** Publishes an event behind all others, so that a reader knows the end. */
  private int mark(DriverJournal journal) throws InterruptedException {
    Semaphore window = new Semaphore(0);
    publish(journal, window);
    boolean answered = window.tryAcquire(1, MARK_SECONDS, TimeUnit.SECONDS);
    int number = published;
    synchronized (confirmed) {
      if (!answered || !confirmed.get(number)) {
        throw new DriverException("no event is confirmed after " + MARK_SECONDS + " s");
      }
    }
    return number;
  }
}
