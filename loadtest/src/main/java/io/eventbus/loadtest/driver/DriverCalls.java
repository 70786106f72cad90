package io.eventbus.loadtest.driver;

import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A caller and a member of one service, each with a connection of its own, and so many calls in
 * flight all the time. One thread uses it.
 */
public interface DriverCalls extends AutoCloseable {
  /** Returns the processes of caller and member, whose CPU time is measured together. */
  List<Long> clientPids();

  /** Begins to call. */
  void start();

  /**
   * Begins the measured part: forgets all latencies so far, and records those of calls that begin
   * from now on.
   */
  void measure();

  /**
   * Returns what has become of the calls since the connections were made.
   *
   * @return counts that only grow
   * @throws DriverException if it cannot go on
   */
  Counts counts();

  /**
   * Calls no more, and waits for the answers of those in flight, at most 30 seconds.
   *
   * @return the latencies of the measured part in nanoseconds, each from before the request was
   *     made until its answer was there
   * @throws DriverException if answers are missing then
   */
  Histogram stop();

  /**
   * Returns the interruptions in the last measured part; null for calls that are not repeated.
   * Called after {@link #stop}.
   */
  default @Nullable Outages outages() {
    return null;
  }

  @Override
  void close();

  /**
   * Counts of what has become of the calls.
   *
   * @param doubled how many the member has got a second time
   * @param failure of the first that failed, empty for none
   */
  record Counts(
      long called, long answered, long failed, long doubled, long foreign, String failure) {}
}
