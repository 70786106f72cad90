package io.eventbus.loadtest.driver;

/**
 * Ends and deletes what must not outlive the load test, where the JVM ends before {@link #close}:
 * when a signal stops it. Any thread.
 */
public final class StopHook implements AutoCloseable {
  private final Thread thread;

  private StopHook(Thread thread) {
    this.thread = thread;
  }

  /**
   * Sees to it that something is done when the JVM ends.
   *
   * @param name for messages
   * @param end ends processes and deletes files, within some seconds: the JVM waits for it
   * @return to be closed once that has been done in order
   * @throws DriverException if the JVM is ending already; then {@code end} has been called
   */
  public static StopHook add(String name, Runnable end) {
    Thread thread = new Thread(end, "end-" + name);
    try {
      Runtime.getRuntime().addShutdownHook(thread);
    } catch (IllegalStateException e) {
      end.run();
      throw new DriverException(name + ": the load test is being stopped", e);
    }
    return new StopHook(thread);
  }

  /**
   * Says whether the JVM is ending.
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
