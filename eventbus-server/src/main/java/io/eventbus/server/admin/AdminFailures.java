package io.eventbus.server.admin;

import io.eventbus.base.RateLimitedLog;
import java.io.Serial;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.LoggerFactory;

/**
 * Requests that failed for a reason that only the log tells. Each kind of failure has a number,
 * which is in the answer and in the log line: repeated failures are written once in ten seconds,
 * and their line is found all the same. Any thread.
 */
final class AdminFailures {
  /** Maximum of kinds; beyond, the oldest gets a new number when it comes again. */
  static final int MAX_KINDS = 64;

  private final RateLimitedLog log;

  /** Numbers by the exception and its place. */
  private final Map<String, Integer> numbers =
      new LinkedHashMap<>() {
        @Serial private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) {
          return size() > MAX_KINDS;
        }
      };

  private int last;

  AdminFailures() {
    this(new RateLimitedLog(LoggerFactory.getLogger(AdminFailures.class)));
  }

  AdminFailures(RateLimitedLog log) {
    this.log = log;
  }

  /** Writes the failure into the log. */
  String tell(RuntimeException failure) {
    int number = number(failure);
    log.error(Integer.toString(number), failure, "administration request failed: error " + number);
    return "the request failed; the bus's log tells why: error " + number;
  }

  private synchronized int number(RuntimeException failure) {
    StackTraceElement[] trace = failure.getStackTrace();
    String kind = failure.getClass().getName() + (trace.length == 0 ? "" : " " + trace[0]);
    return numbers.computeIfAbsent(kind, k -> ++last);
  }
}
