package io.eventbus.cli.console;

/**
 * Hook for an interrupt of the process (Ctrl-C, SIGTERM), without effect when the command ends by
 * itself first. The JVM waits for it, then exits with 128 plus the signal's number.
 */
public final class StopHook {
  private final Thread thread;

  public StopHook(Runnable stop) {
    thread = new Thread(stop, "eventbus-stop");
    Runtime.getRuntime().addShutdownHook(thread);
  }

  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(thread);
    } catch (IllegalStateException e) {
      // The process is stopping: the hook runs, or has run.
      return;
    }
  }
}
