package io.eventbus.loadtest.attack.run;

import java.util.concurrent.TimeUnit;

/**
 * Asks for health again and again on a thread of its own, and reads the largest resident memory.
 */
final class HealthProbe implements AutoCloseable {
  private static final int EVERY_MILLIS = 200;
  private static final int TIMEOUT_MILLIS = 1_000;
  private static final int OK = 200;

  private final Admin admin;
  private final ProcessFigures process;
  private final Thread thread = new Thread(this::run, "health-probe");
  private double worst;
  private long asked;
  private long bad;
  private long rssPeak = -1;
  private volatile boolean ended;

  HealthProbe(Admin admin, ProcessFigures process) {
    this.admin = admin;
    this.process = process;
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    while (!ended) {
      long begin = System.nanoTime();
      int status = admin.get("/healthz", TIMEOUT_MILLIS).status();
      long took = System.nanoTime() - begin;
      note(took / 1e6, status);
      try {
        Thread.sleep(Math.max(1, EVERY_MILLIS - TimeUnit.NANOSECONDS.toMillis(took)));
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private synchronized void note(double millis, int status) {
    asked++;
    worst = Math.max(worst, millis);
    bad += status == OK ? 0 : 1;
    rssPeak = Math.max(rssPeak, process.rssPeak());
  }

  /** Returns what was seen since the last call. */
  synchronized Health take() {
    Health health = new Health(worst, asked, bad);
    worst = 0;
    asked = 0;
    bad = 0;
    return health;
  }

  /** Returns the largest resident memory seen so far in bytes, -1 if unknown. */
  synchronized long rssPeak() {
    return rssPeak;
  }

  @Override
  public void close() {
    ended = true;
    thread.interrupt();
  }
}
