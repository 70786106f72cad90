package io.eventbus.server.queue;

import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Budgets of all owners that have stalled publishers lately: of each identity one, and of each
 * address for the clients without a name. A client that reconnects has the same one. Any thread.
 *
 * <p>A budget exists while a connection has it, and beyond that for as long as it may take to
 * reconnect, or until {@value #MAX_IDLE} others are kept for the same reason.
 */
public final class BlockBudgets {
  static final int MAX_IDLE = 4096;

  private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Duration capacity;
  private final Map<String, Shared> inUse = new HashMap<>();
  // In the order in which the last connection has left them.
  private final Map<String, Shared> idle = new LinkedHashMap<>();

  /** Budget with the number of its connections. */
  static final class Shared {
    /** Time in which connections see the result of another's check. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(80);

    private final String owner;
    private final BlockBudget budget;
    // Guarded by the lock of this object.
    private long lookedAt;
    private boolean usedUp;
    // Guarded by the lock of the table.
    private int users;
    private long leftNanos;

    Shared(String owner, BlockBudget budget, long nowNanos) {
      this.owner = owner;
      this.budget = budget;
      this.lookedAt = nowNanos - LOOK_NANOS;
    }

    /** Charges as {@link BlockBudget#charge}. */
    void charge(long nanos) {
      budget.charge(nanos);
    }

    /**
     * Returns as {@link BlockBudget#isUsedUp}. Checks no more often than one connection does, or
     * publishers that are stalled together would count more often than once.
     */
    synchronized boolean isUsedUp(long nowNanos) {
      if (nowNanos - lookedAt >= LOOK_NANOS) {
        lookedAt = nowNanos;
        usedUp = budget.isUsedUp(nowNanos);
      }
      return usedUp;
    }
  }

  /** Creates an empty table. */
  public BlockBudgets(Duration capacity) {
    this.capacity = capacity;
  }

  /** Returns the budget of an owner, for one connection more. */
  synchronized Shared acquire(String owner, long nowNanos) {
    forgetOld(nowNanos);
    Shared shared = inUse.get(owner);
    if (shared == null) {
      Shared known = idle.remove(owner);
      shared =
          known == null ? new Shared(owner, new BlockBudget(capacity, nowNanos), nowNanos) : known;
      inUse.put(owner, shared);
    }
    shared.users++;
    return shared;
  }

  /** Releases the budget of a connection that has ended. */
  synchronized void release(Shared shared, long nowNanos) {
    if (--shared.users == 0) {
      inUse.remove(shared.owner);
      shared.leftNanos = nowNanos;
      idle.put(shared.owner, shared);
      forgetOld(nowNanos);
    }
  }

  private void forgetOld(long nowNanos) {
    Iterator<Shared> oldest = idle.values().iterator();
    while (oldest.hasNext()
        && (nowNanos - oldest.next().leftNanos >= IDLE_NANOS || idle.size() > MAX_IDLE)) {
      oldest.remove();
    }
  }

  /** Returns the number of budgets. */
  synchronized int size() {
    return inUse.size() + idle.size();
  }
}
