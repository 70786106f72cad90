package io.eventbus.server.durable;

import io.eventbus.journal.CursorView;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult;
import io.eventbus.server.memory.BusMemory;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Consumers of durable subscriptions at this bus, each in the order in which they have come: the
 * first one is active, the others stand by. The cursor is this bus's until the last of them has
 * left; then it is released for consumers of other buses. The release is tried until it is
 * answered: without it no other bus gets the cursor while this one lives. Any thread.
 */
final class ExclusiveTurns {
  /** Heap of the turns of one durable subscription, about. */
  private static final int TURN_BYTES = 512;

  private record Key(int journal, String name) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int order = name.compareTo(other.name);
      return order != 0 ? order : Integer.compare(journal, other.journal);
    }
  }

  /** Turns of one durable subscription. */
  private static final class Turn {
    final Queue<Runnable> consumers = new ArrayDeque<>(1);
    // Requests for the cursor that are not answered.
    int asking;
    // Whether the cursor may be this bus's, and the last epoch that this bus was told.
    boolean held;
    long epoch;
    // Release under way, during which no consumer is active; and one that waits for another try.
    boolean releasing;
    boolean waiting;
  }

  private final Journals journals;
  private final CursorOwner owner;
  private final ReadTurns reads;
  private final CursorLooks looks;
  private final BusMemory memory;
  private final Map<Key, Turn> turns = new HashMap<>();

  ExclusiveTurns(
      Journals journals, CursorOwner owner, ReadTurns reads, CursorLooks looks, BusMemory memory) {
    this.journals = journals;
    this.owner = owner;
    this.reads = reads;
    this.looks = looks;
    this.memory = memory;
  }

  /**
   * Adds a consumer.
   *
   * @param activate called once when all before it have left; perhaps before the call returns
   */
  void join(int journal, String name, Runnable activate) {
    synchronized (this) {
      Turn turn = turns.computeIfAbsent(new Key(journal, name), key -> newTurn());
      turn.consumers.add(activate);
      if (turn.consumers.size() > 1 || turn.releasing) {
        return;
      }
    }
    activate.run();
  }

  private Turn newTurn() {
    memory.reserve(TURN_BYTES);
    return new Turn();
  }

  /** Removes a consumer that has joined, by the same object. */
  void leave(int journal, String name, Runnable activate) {
    Key key = new Key(journal, name);
    Runnable next;
    synchronized (this) {
      Turn turn = turns.get(key);
      if (turn == null) {
        return;
      }
      boolean first = turn.consumers.peek() == activate;
      turn.consumers.remove(activate);
      next = first && !turn.releasing ? turn.consumers.peek() : null;
    }
    if (next != null) {
      next.run();
    } else {
      release(key);
    }
  }

  /**
   * Asks for the cursor, for the consumer that is active.
   *
   * @param replaces epoch with which it is taken from another owner; 0 for none
   */
  CompletionStage<RecordResult> attach(int journal, String name, long replaces) {
    Key key = new Key(journal, name);
    synchronized (this) {
      Turn turn = turns.get(key);
      if (turn == null) {
        throw new IllegalStateException("cursor " + name + " without a consumer");
      }
      turn.asking++;
    }
    return journals
        .attachCursor(journal, name, owner.name().get(), replaces)
        .whenComplete((result, failure) -> attached(key, result));
  }

  private void attached(Key key, @Nullable RecordResult result) {
    synchronized (this) {
      Turn turn = turns.get(key);
      if (turn == null) {
        throw new IllegalStateException("answer for cursor " + key.name + " without a question");
      }
      turn.asking--;
      if (result instanceof RecordResult.CursorState cursor) {
        turn.epoch = Math.max(turn.epoch, cursor.epoch());
      }
      // Without an answer, the cursor may be this bus's.
      turn.held |= !(result instanceof RecordResult.Refused);
    }
    release(key);
  }

  /** Releases a cursor without consumers at this bus. */
  private void release(Key key) {
    boolean held;
    long epoch;
    synchronized (this) {
      Turn turn = turns.get(key);
      if (turn == null || !turn.consumers.isEmpty() || turn.asking > 0 || turn.releasing) {
        return;
      }
      if (turn.held) {
        turn.releasing = true;
      } else {
        turns.remove(key);
      }
      held = turn.held;
      epoch = turn.epoch;
    }
    if (!held) {
      memory.release(TURN_BYTES);
      return;
    }
    var unused =
        journals
            .detachCursor(key.journal, key.name, epoch)
            .whenComplete((result, failure) -> released(key, result));
  }

  private void released(Key key, @Nullable RecordResult result) {
    if (result == null) {
      ended(key, true);
    } else if (result instanceof RecordResult.Refused refused
        && refused.reason() == JournalRefusalReason.STALE_EPOCH) {
      // The owner is another bus, or this one by a request whose answer was lost.
      reads.add(this, () -> look(key));
    } else {
      released(key, false, 0);
    }
  }

  private void look(Key key) {
    try {
      CursorView cursor = journals.cursor(key.journal, key.name);
      if (cursor != null && cursor.owner().equals(owner.name().get())) {
        released(key, true, cursor.epoch());
      } else {
        released(key, false, 0);
      }
    } catch (JournalsUnavailableException e) {
      ended(key, true);
    } catch (RuntimeException e) {
      ended(key, true);
      throw e;
    }
  }

  private void waited(Key key) {
    synchronized (this) {
      Turn turn = turns.get(key);
      if (turn != null) {
        turn.waiting = false;
      }
    }
    release(key);
  }

  private void released(Key key, boolean held, long epoch) {
    synchronized (this) {
      Turn turn = turns.get(key);
      if (turn != null) {
        turn.held = held;
        turn.epoch = epoch;
      }
    }
    ended(key, false);
    release(key);
  }

  /**
   * Activates the first consumer that has come while the release was under way.
   *
   * @param again whether the release is tried again later, if no consumer has come
   */
  private void ended(Key key, boolean again) {
    Runnable next;
    synchronized (this) {
      Turn turn = turns.get(key);
      if (turn == null) {
        return;
      }
      turn.releasing = false;
      next = turn.consumers.peek();
      if (next == null && again && !turn.waiting) {
        turn.waiting = true;
        looks.later(this, () -> waited(key));
      }
    }
    if (next != null) {
      next.run();
    }
  }
}
