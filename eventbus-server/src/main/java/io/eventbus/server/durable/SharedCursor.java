package io.eventbus.server.durable;

import io.eventbus.journal.ConsumerView;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Turns of the consumers of a shared durable subscription at this bus: one of them at a time asks
 * for events, and an answer without any lets all of them wait until something happens. So a hundred
 * idle consumers cost no more than one.
 *
 * <p>It looks after the consumers that the journal knows, too: it lets those leave whose bus has
 * ended, and whose leave or join at this bus has got no answer. Any thread.
 */
final class SharedCursor {
  /** Maximum number of consumers that are looked at together. */
  static final int MAX_LOOKED_AT = 256;

  /** Time for which a join without an answer may still be done. */
  static final long DOUBT_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Minimum and maximum time of a timer: those that are not needed any more are not kept long. */
  static final long MIN_TIMER_MILLIS = 10;

  static final long MAX_TIMER_MILLIS = 60_000;

  /** Consumer that has left, until the journal has answered. */
  private static final class Leave {
    final boolean failed;
    boolean asked;

    Leave(boolean failed) {
      this.failed = failed;
    }
  }

  final int journal;
  final String name;
  // Under the lock of all cursors.
  int users;
  private final SharedCursors all;
  private final Runnable look = this::look;
  // All below under the lock of this object. By epoch:
  private final Map<Long, QueueConsumer> members = new HashMap<>();
  private final Map<Long, Leave> leaving = new HashMap<>();
  private final Set<QueueConsumer> waiting = new LinkedHashSet<>();
  private @Nullable QueueConsumer turn;
  private boolean mayHave = true;
  // Whether something has happened since the turn began.
  private boolean changed;
  // When the timer runs, as nanoTime; if there is one.
  private boolean hasTimer;
  private long wakeAt;
  // Joins that have begun and that were answered, and when the last one got no answer.
  private long joins;
  private long joined;
  private boolean doubtful;
  private long doubtfulSince;
  private long lookedUpTo;

  SharedCursor(SharedCursors all, int journal, String name) {
    this.all = all;
    this.journal = journal;
    this.name = name;
  }

  /** Returns whether nothing is to be done without consumers. */
  synchronized boolean isIdle() {
    return members.isEmpty() && leaving.isEmpty() && joins == joined && !doubtful;
  }

  void release() {
    all.release(this);
  }

  // ---- Joining and leaving

  /** Joins; the result has the epoch of the consumer. */
  CompletionStage<RecordResult> join(QueueConsumer consumer, int maxAttempts) {
    synchronized (this) {
      joins++;
    }
    return all.journals
        .joinCursor(journal, name, all.owner.name().get(), maxAttempts)
        .whenComplete((result, failure) -> joined(consumer, result));
  }

  private void joined(QueueConsumer consumer, @Nullable RecordResult result) {
    synchronized (this) {
      joined++;
      if (result instanceof RecordResult.CursorState state) {
        // After a time without consumers nothing was told of events whose time has come.
        mayHave |= members.isEmpty();
        members.put(state.epoch(), consumer);
      } else if (result == null) {
        doubtful = true;
        doubtfulSince = all.nanoTime.getAsLong();
      }
    }
    if (!all.removeIfIdle(this)) {
      lookLater();
    }
  }

  /**
   * Lets a consumer leave that has joined; tried until it is answered.
   *
   * @param failed whether the deliveries to it count as attempts
   */
  void leave(QueueConsumer consumer, long epoch, boolean failed) {
    synchronized (this) {
      members.remove(epoch);
      waiting.remove(consumer);
      leaving.put(epoch, new Leave(failed));
    }
    retryLeaves();
    lookLater();
  }

  private void retryLeaves() {
    Map<Long, Leave> due = new HashMap<>();
    synchronized (this) {
      leaving.forEach(
          (epoch, leave) -> {
            if (!leave.asked) {
              leave.asked = true;
              due.put(epoch, leave);
            }
          });
    }
    due.forEach(
        (epoch, leave) -> {
          var unused =
              all.journals
                  .leaveCursor(journal, name, epoch, leave.failed)
                  .whenComplete((result, failure) -> left(epoch, leave, result));
        });
  }

  private void left(long epoch, Leave leave, @Nullable RecordResult result) {
    synchronized (this) {
      leave.asked = false;
      if (result != null) {
        leaving.remove(epoch);
      }
    }
    boolean unused = all.removeIfIdle(this);
  }

  // ---- Turns

  /** Asks for a turn, for a consumer that has room. */
  void want(QueueConsumer consumer) {
    QueueConsumer next;
    synchronized (this) {
      waiting.add(consumer);
      next = nextTurn();
    }
    begin(next);
  }

  /** Ends the turn of a consumer that has no room any more. */
  void pass(QueueConsumer consumer) {
    QueueConsumer next;
    synchronized (this) {
      endTurn(consumer);
      next = nextTurn();
    }
    begin(next);
  }

  /** Ends the turn of a consumer that has asked. */
  void took(QueueConsumer consumer, @Nullable RecordResult result) {
    QueueConsumer next;
    long due = 0;
    synchronized (this) {
      endTurn(consumer);
      if (result instanceof RecordResult.Taken taken && taken.runs().isEmpty()) {
        mayHave = changed;
        due = taken.due();
      }
      next = nextTurn();
    }
    if (due != 0) {
      wakeAfter(due - all.stamp.getAsLong());
    }
    begin(next);
  }

  private void endTurn(QueueConsumer consumer) {
    if (turn == consumer) {
      turn = null;
    }
  }

  private @Nullable QueueConsumer nextTurn() {
    Iterator<QueueConsumer> first = waiting.iterator();
    if (turn != null || !mayHave || !first.hasNext()) {
      return null;
    }
    QueueConsumer next = first.next();
    first.remove();
    turn = next;
    changed = false;
    return next;
  }

  private static void begin(@Nullable QueueConsumer next) {
    if (next != null) {
      next.turn();
    }
  }

  /** Takes note that there may be something for the consumers. */
  void changed() {
    QueueConsumer next;
    synchronized (this) {
      mayHave = true;
      changed = true;
      next = nextTurn();
    }
    begin(next);
  }

  /** Ends all consumers: the journal is deleted. */
  void deleted() {
    List<QueueConsumer> ended;
    synchronized (this) {
      ended = new ArrayList<>(members.values());
    }
    ended.forEach(QueueConsumer::deleted);
  }

  /** Takes note that consumers may have other slots, or events that come again. */
  void regrouped() {
    List<QueueConsumer> told;
    synchronized (this) {
      told = new ArrayList<>(members.values());
    }
    told.forEach(QueueConsumer::regrouped);
  }

  // ---- The timer

  /** Lets consumers ask again after a time, unless a timer runs that ends before. */
  private void wakeAfter(long millis) {
    long wait = Math.max(MIN_TIMER_MILLIS, millis);
    synchronized (this) {
      long at = all.nanoTime.getAsLong() + TimeUnit.MILLISECONDS.toNanos(wait);
      if (hasTimer && at - wakeAt >= 0) {
        return;
      }
      hasTimer = true;
      wakeAt = at;
    }
    startTimer(wait);
  }

  private void startTimer(long millis) {
    all.timer.run(this::wake, Math.min(millis, MAX_TIMER_MILLIS));
  }

  private void wake() {
    long left;
    synchronized (this) {
      if (!hasTimer) {
        return;
      }
      left = TimeUnit.NANOSECONDS.toMillis(wakeAt - all.nanoTime.getAsLong());
      if (left > 0 && members.isEmpty()) {
        // The next consumer asks in any case, see joined.
        hasTimer = false;
        return;
      }
      hasTimer = left > 0;
    }
    if (left > 0) {
      startTimer(left);
    } else {
      changed();
    }
  }

  // ---- Consumers that are lost

  private void lookLater() {
    synchronized (this) {
      if (members.isEmpty() && leaving.isEmpty() && !doubtful) {
        return;
      }
    }
    all.looks.later(all, look);
  }

  /** Looks at the consumers of all buses, on a thread that may wait for the disk. */
  private void look() {
    retryLeaves();
    try {
      lookForLost();
    } catch (JournalsUnavailableException e) {
      // Looks again.
    } finally {
      if (!all.removeIfIdle(this)) {
        lookLater();
      }
    }
  }

  private void lookForLost() {
    long begun;
    boolean sure;
    long after;
    synchronized (this) {
      if (members.isEmpty() && !doubtful) {
        return;
      }
      begun = joins;
      sure = joins == joined;
      after = lookedUpTo;
    }
    List<ConsumerView> found = all.journals.consumers(journal, name, after, MAX_LOOKED_AT);
    String self = all.owner.name().get();
    for (ConsumerView each : found) {
      boolean lost;
      boolean failed = true;
      if (each.owner().equals(self)) {
        failed = false;
        synchronized (this) {
          lost =
              sure
                  && begun == joins
                  && !members.containsKey(each.epoch())
                  && !leaving.containsKey(each.epoch());
        }
      } else {
        lost = all.owner.isGone().test(each.owner());
      }
      if (lost) {
        // Another look finds it again if this fails.
        var unused = all.journals.leaveCursor(journal, name, each.epoch(), failed);
      }
    }
    synchronized (this) {
      boolean more = found.size() == MAX_LOOKED_AT;
      lookedUpTo = more ? found.get(found.size() - 1).epoch() : 0;
      if (doubtful && all.nanoTime.getAsLong() - doubtfulSince > DOUBT_NANOS && !more) {
        doubtful = false;
      }
    }
  }
}
