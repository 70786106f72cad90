package io.eventbus.loadtest.driver;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Ends and deletes what must not outlive the load test, where the JVM ends before {@link #close}:
 * when a signal stops it. Any thread.
 */
public final class DriverStopHook implements AutoCloseable {
  private static final String STOPPING = ": the load test is being stopped";
  private static final long START_SECONDS = 20;

  /** Shared by what is being started; taken for good when the JVM ends. */
  private static final ReentrantReadWriteLock STARTING = new ReentrantReadWriteLock();

  private static final AtomicBoolean STOPPED = new AtomicBoolean();

  static {
    try {
      Runtime.getRuntime()
          .addShutdownHook(new Thread(DriverStopHook::awaitStarting, "end-of-starting"));
    } catch (IllegalStateException e) {
      STOPPED.set(true);
    }
  }

  private final Thread thread;

  private DriverStopHook(Thread thread) {
    this.thread = thread;
  }

  /** Start of a process together with its hook. */
  @FunctionalInterface
  public interface Start<T, E extends Exception> {
    /**
     * Starts it, within some seconds, and adds its hook.
     *
     * @throws E if it cannot be started
     */
    T start() throws E;
  }

  /**
   * Starts something; the JVM does not end between the start and the hook, which would leave behind
   * what has been started.
   *
   * @throws DriverException if the JVM is ending already; nothing has been started then
   * @throws E if it cannot be started
   */
  public static <T, E extends Exception> T whole(String name, Start<T, E> start) throws E {
    if (STOPPED.get() || !STARTING.readLock().tryLock()) {
      throw new DriverException(name + STOPPING);
    }
    try {
      return start.start();
    } finally {
      STARTING.readLock().unlock();
    }
  }

  private static void awaitStarting() {
    try {
      // After the deadline the JVM ends all the same: something hangs that should have started.
      boolean taken = STARTING.writeLock().tryLock(START_SECONDS, TimeUnit.SECONDS);
      assert taken : "something still starts after " + START_SECONDS + " s";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Sees to it that something is done when the JVM ends.
   *
   * @param end ends processes and deletes files, within some seconds: the JVM waits for it
   * @return to be closed once that has been done in order
   * @throws DriverException if the JVM is ending already; then {@code end} has been called
   */
  public static DriverStopHook add(String name, Runnable end) {
    Thread thread = new Thread(end, "end-" + name);
    try {
      Runtime.getRuntime().addShutdownHook(thread);
    } catch (IllegalStateException e) {
      end.run();
      throw new DriverException(name + STOPPING, e);
    }
    return new DriverStopHook(thread);
  }

  /**
   * Returns whether the JVM is ending.
   *
   * @return true from before the first hook runs: nothing that a hook has ended is mistaken for a
   *     failure by who asks here
   */
  public static boolean isStopping() {
    Thread none = new Thread(() -> {}, "never-started");
    try {
      Runtime.getRuntime().addShutdownHook(none);
      Runtime.getRuntime().removeShutdownHook(none);
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(thread);
    } catch (IllegalStateException e) {
      // The JVM is ending and runs the hook itself.
      return;
    }
  }
}
