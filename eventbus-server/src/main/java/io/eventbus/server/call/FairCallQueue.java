package io.eventbus.server.call;

import java.util.IdentityHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one priority that wait for the same places: shares take turns, the calls of each are
 * served in order. Lines go round, so that nothing is allocated in steady state; what a crowd has
 * left is let go when none waits. Confined to the loop.
 */
final class FairCallQueue {
  /** So many shares are remembered for the next time when none waits. */
  private static final int FEW = 4;

  private IdentityHashMap<FairnessGroup, CallerQueue> lines = new IdentityHashMap<>(1);
  // The most that had calls at once since the map was made.
  private int crowd;
  // Whose turn it is.
  private @Nullable CallerQueue current;
  private @Nullable CallerQueue spare;
  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  /** How many calls of a share wait. */
  int size(FairnessGroup share) {
    CallerQueue line = lines.get(share);
    return line == null ? 0 : line.size;
  }

  /**
   * How long the next call of a share would see others wait: the first one of its share, and the
   * share whose turn it is.
   */
  long waited(FairnessGroup share, long nowNanos) {
    CallerQueue line = current;
    if (line == null) {
      return 0;
    }
    CallerQueue own = lines.get(share);
    Call first = own == null ? null : own.first();
    long turn = nowNanos - line.turnNanos;
    return first == null ? turn : Math.max(turn, nowNanos - first.queuedNanos);
  }

  /**
   * Returns the call that makes way when one of a share is refused: the first of that share or,
   * where it has none, the first of the share whose turn it is, if that turn has not come for too
   * long.
   */
  @Nullable Call makesWay(FairnessGroup share, long mostNanos, long nowNanos) {
    CallerQueue line = lines.get(share);
    if (line != null) {
      return line.first();
    }
    line = current;
    return line == null || nowNanos - line.turnNanos <= mostNanos ? null : line.first();
  }

  /** Gives the turn of a call's share to the next one: the call makes way for another share. */
  void pass(Call call, long nowNanos) {
    CallerQueue line = call.line;
    if (line != null) {
      line.turnNanos = nowNanos;
      current = line.next;
    }
  }

  void add(Call call, boolean first) {
    CallerQueue line = line(call.share(), call.queuedNanos);
    call.line = line;
    if (first) {
      line.addFirst(call);
    } else {
      line.add(call);
    }
    size++;
  }

  private CallerQueue line(FairnessGroup share, long nowNanos) {
    CallerQueue line = lines.get(share);
    if (line != null) {
      return line;
    }
    line = spare;
    if (line == null) {
      line = new CallerQueue();
    } else {
      spare = line.next == line ? null : line.next;
      unlink(line);
    }
    line.share = share;
    line.turnNanos = nowNanos;
    lines.put(share, line);
    crowd = Math.max(crowd, lines.size());
    CallerQueue now = current;
    if (now == null) {
      current = line;
    } else {
      // The last one before the turn comes round.
      link(line, now);
    }
    return line;
  }

  /** Takes the next call out, and gives the turn to the next share; null if there is none. */
  @Nullable Call poll(long nowNanos) {
    CallerQueue line = current;
    if (line == null) {
      return null;
    }
    Call call = line.first();
    if (call != null) {
      current = line.next;
      line.turnNanos = nowNanos;
      remove(call);
    }
    return call;
  }

  /** Gives all calls to somebody who takes none of them out meanwhile. */
  void forEach(Consumer<Call> action) {
    for (CallerQueue line : lines.values()) {
      for (Call call = line.first(); call != null; call = call.behind) {
        action.accept(call);
      }
    }
  }

  /** Takes a call out that is in here. */
  void remove(Call call) {
    CallerQueue line = call.line;
    if (line == null) {
      throw new IllegalStateException("the call does not wait");
    }
    line.remove(call);
    call.line = null;
    size--;
    if (line.size == 0) {
      lines.remove(line.share);
      line.share = null;
      if (current == line) {
        current = line.next == line ? null : line.next;
      }
      unlink(line);
      keep(line);
      forgetCrowd();
    }
  }

  private void forgetCrowd() {
    if (size == 0 && crowd > FEW) {
      lines = new IdentityHashMap<>(1);
      spare = null;
      crowd = 0;
    }
  }

  private void keep(CallerQueue line) {
    CallerQueue kept = spare;
    if (kept == null) {
      spare = line;
    } else {
      link(line, kept);
    }
  }

  private static void link(CallerQueue line, CallerQueue before) {
    line.previous = before.previous;
    line.next = before;
    before.previous.next = line;
    before.previous = line;
  }

  private static void unlink(CallerQueue line) {
    line.previous.next = line.next;
    line.next.previous = line.previous;
    line.next = line;
    line.previous = line;
  }
}
