package io.eventbus.base;

import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * Log for lines that others can cause as often as they like. The first of a kind is written at
 * once; from then on at most one in ten seconds, or in another interval, with the number of those
 * left out. It writes no stack traces, but for {@link #error}. Any thread.
 *
 * <p>Kinds may come from outside, an address for instance: beyond {@value #MAX_KINDS} within that
 * time all others count as one kind.
 */
public final class RateLimitedLog {
  static final int MAX_KINDS = 64;
  static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final String OTHERS = "others";
  private static final String MORE = " (and {} more like this since the last such line)";

  private final Logger log;
  private final LongSupplier nanoTime;
  private final long intervalNanos;
  private final Map<String, Gate> gates = new HashMap<>();

  private static final class Gate {
    long writtenAt;
    long suppressed;
  }

  /**
   * Creates an empty log.
   *
   * @param log where the lines go
   */
  public RateLimitedLog(Logger log) {
    this(log, System::nanoTime);
  }

  /**
   * Creates a log with a clock of its own.
   *
   * @param log where the lines go
   * @param nanoTime as {@link System#nanoTime}
   */
  public RateLimitedLog(Logger log, LongSupplier nanoTime) {
    this(log, nanoTime, Duration.ofNanos(INTERVAL_NANOS));
  }

  /**
   * Creates a log with another interval.
   *
   * @param log where the lines go
   * @param nanoTime as {@link System#nanoTime}
   * @param interval minimum between two lines of a kind
   */
  public RateLimitedLog(Logger log, LongSupplier nanoTime, Duration interval) {
    this.log = log;
    this.nanoTime = nanoTime;
    this.intervalNanos = interval.toNanos();
  }

  /** Writes a warning, or counts it. */
  public void warn(String kind, String format, Object... arguments) {
    write(Level.WARN, kind, format, arguments);
  }

  /** Writes a line at the level INFO, or counts it. */
  public void info(String kind, String format, Object... arguments) {
    write(Level.INFO, kind, format, arguments);
  }

  private void write(Level level, String kind, String format, Object... arguments) {
    if (!log.isEnabledForLevel(level)) {
      return;
    }
    long before = pass(kind);
    if (before < 0) {
      return;
    }
    Object[] texts = new Object[arguments.length + 1];
    for (int i = 0; i < arguments.length; i++) {
      texts[i] = arguments[i] instanceof Throwable t ? t.toString() : arguments[i];
    }
    if (before == 0) {
      // The spare place would be taken for an exception.
      texts[arguments.length] = "";
      log.atLevel(level).log(format, texts);
    } else {
      texts[arguments.length] = before;
      log.atLevel(level).log(format + MORE, texts);
    }
  }

  /** Writes an error with its stack trace, or counts it. */
  public void error(String kind, Throwable cause, String message) {
    long before = log.isErrorEnabled() ? pass(kind) : -1;
    if (before >= 0) {
      log.error("{}{}", message, before == 0 ? "" : MORE.replace("{}", "" + before), cause);
    }
  }

  /** Returns how many were left out since the last line of the kind, or -1 for one more of them. */
  private synchronized long pass(String kind) {
    long now = nanoTime.getAsLong();
    Gate gate = gates.get(kind);
    if (gate == null && gates.size() >= MAX_KINDS) {
      forgetOld(now);
      gate = gates.size() < MAX_KINDS ? null : gates.get(OTHERS);
    }
    if (gate == null) {
      Gate made = new Gate();
      made.writtenAt = now;
      gates.put(gates.size() < MAX_KINDS ? kind : OTHERS, made);
      return 0;
    }
    if (now - gate.writtenAt < intervalNanos) {
      gate.suppressed++;
      return -1;
    }
    gate.writtenAt = now;
    long before = gate.suppressed;
    gate.suppressed = 0;
    return before;
  }

  /** Forgets old kinds, which clients may choose: their left-out lines are reported with others. */
  private void forgetOld(long now) {
    long leftOut = 0;
    for (Iterator<Map.Entry<String, Gate>> i = gates.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry<String, Gate> one = i.next();
      if (!one.getKey().equals(OTHERS) && now - one.getValue().writtenAt >= intervalNanos) {
        leftOut += one.getValue().suppressed;
        i.remove();
      }
    }
    if (leftOut > 0) {
      Gate others = gates.get(OTHERS);
      if (others == null) {
        others = new Gate();
        others.writtenAt = now - intervalNanos;
        gates.put(OTHERS, others);
      }
      others.suppressed += leftOut;
    }
  }
}
