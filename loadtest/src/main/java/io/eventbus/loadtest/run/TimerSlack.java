package io.eventbus.loadtest.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Makes the waits of one thread exact.
 *
 * <p>Linux wakes a thread up to 50 µs late, to save power; an open loop that is late by that much
 * would find the same 50 µs in every system it measures. The slack of a thread can be set (see
 * {@code PR_SET_TIMERSLACK} in prctl(2)), without native code through {@code
 * /proc/<tid>/timerslack_ns}. Where there is no such file nothing happens.
 */
public final class TimerSlack {
  private static final Path THREAD = Path.of("/proc/thread-self");
  private static final String MIN_SLACK_NANOS = "1";

  private TimerSlack() {}

  /** Takes the slack from the current thread, if that is possible. */
  public static void remove() {
    try {
      Path thread = Files.readSymbolicLink(THREAD).getFileName();
      Files.writeString(Path.of("/proc", thread.toString(), "timerslack_ns"), MIN_SLACK_NANOS);
    } catch (IOException | UnsupportedOperationException | SecurityException e) {
      // Not Linux, or not allowed: the waits are less exact, and latency counts from when an event
      // was due all the same.
      return;
    }
  }
}
