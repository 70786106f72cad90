package io.eventbus.server.security;

import io.eventbus.base.PrintableText;
import io.eventbus.base.RateLimitedLog;
import java.time.Duration;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Log of what clients were not allowed to do, and by which rule: the first of a client, an action
 * and a topic, and then at most one in a minute, with a count. Each loop has its own.
 */
public final class DenialLog {
  private static final Duration INTERVAL = Duration.ofMinutes(1);
  private static final int MAX_SHOWN = 300;

  private final RateLimitedLog log;

  /** Creates an empty log. */
  public DenialLog() {
    this(LoggerFactory.getLogger("eventbus.audit"), System::nanoTime);
  }

  DenialLog(Logger logger, LongSupplier nanoTime) {
    this.log = new RateLimitedLog(logger, nanoTime, INTERVAL);
  }

  /** Notes that a client was refused. */
  public void denied(String client, Action action, String name, Verdict verdict) {
    String kind = client + ' ' + action + ' ' + name;
    log.warn(
        kind,
        "{} may not {} '{}': {}",
        printable(client),
        action.name().toLowerCase(Locale.ROOT),
        printable(name),
        printable(verdict.reason()));
  }

  /** Returns a printable text: subjects, topics and the rules of tokens come from others. */
  private static String printable(String text) {
    return PrintableText.of(text, MAX_SHOWN);
  }
}
