package io.eventbus.server.stats;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counter that one thread writes and any thread reads: an addition costs no more than on a plain
 * field.
 */
public final class SingleWriterCounter {
  private static final VarHandle VALUE;

  static {
    try {
      VALUE = MethodHandles.lookup().findVarHandle(SingleWriterCounter.class, "value", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private long value;

  /** Creates a counter at zero. */
  public SingleWriterCounter() {}

  /** Adds; only the owning thread may call this. */
  public void add(long n) {
    VALUE.setOpaque(this, value + n);
  }

  /** Reads the counter; any thread. */
  public long get() {
    return (long) VALUE.getOpaque(this);
  }
}
