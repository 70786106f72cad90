package io.eventbus.registry.history;

import io.eventbus.registry.state.RegistryState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Search for an order of one topic's operations that the state machine allows and that respects the
 * real-time order.
 *
 * <p>The search of Wing and Gong (Testing and verifying concurrent objects, 1993) with Lowe's
 * memory of configurations (Testing for linearizability, 2017): calls and returns stand in one list
 * in the order of time; an operation whose call comes before the first return may be next. A set of
 * operations done, with the state that they led to, is tried once. An operation of unknown outcome
 * has no return: it may come at any later place, or at none.
 */
public final class Linearizability {
  /** Verdict of a search. */
  public enum Verdict {
    /** There is an order. */
    LINEARIZABLE,
    /** There is none. */
    NOT_LINEARIZABLE,
    /** The search was abandoned. */
    UNDECIDED
  }

  /**
   * The end of a search.
   *
   * @param explanation the counterexample for people; empty if there is none
   */
  public record Result(Verdict verdict, long steps, String explanation) {}

  /** Call or return in the list of those that are not placed yet. */
  private static final class Event {
    final int operation;
    final long time;
    final boolean call;
    @Nullable Event previous;
    @Nullable Event next;
    @Nullable Event partner;

    Event(int operation, long time, boolean call) {
      this.operation = operation;
      this.time = time;
      this.call = call;
    }
  }

  private record Configuration(BitSet placed, String token) {}

  private record Placed(Event call, RegistryState before) {}

  private final List<Operation> operations;
  private final String topic;
  private final long maxSteps;
  private final Event head = new Event(-1, Long.MIN_VALUE, true);
  private final BitSet placed = new BitSet();
  private final Deque<Placed> order = new ArrayDeque<>();
  private final Set<Configuration> seen = new HashSet<>();
  private List<Integer> longest = List.of();
  private String longestToken = "";
  private int stuckAt = -1;

  private Linearizability(List<Operation> operations, long maxSteps) {
    this.operations = operations;
    this.topic = operations.isEmpty() ? "" : operations.get(0).topic();
    this.maxSteps = maxSteps;
  }

  /**
   * Checks the operations of one topic.
   *
   * @param operations in any order; those that were certainly not applied are left out
   * @param maxSteps number of steps after which to give up
   */
  public static Result check(List<Operation> operations, long maxSteps) {
    List<Operation> relevant =
        operations.stream().filter(o -> !(o.outcome() instanceof Outcome.NotApplied)).toList();
    return new Linearizability(relevant, maxSteps).search();
  }

  private Result search() {
    link();
    RegistryState state = TopicModel.start();
    long steps = 0;
    Event at = head.next;
    while (at != null) {
      if (++steps > maxSteps) {
        return new Result(Verdict.UNDECIDED, steps, explain("gave up after " + steps + " steps"));
      }
      if (at.call) {
        RegistryState after = TopicModel.step(state, operations.get(at.operation));
        if (after != null && isNew(at.operation, after)) {
          order.push(new Placed(at, state));
          placed.set(at.operation);
          lift(at);
          state = after;
          at = head.next;
        } else {
          at = at.next;
        }
        continue;
      }
      note(at.operation, state);
      Placed last = order.poll();
      if (last == null) {
        return new Result(Verdict.NOT_LINEARIZABLE, steps, explain("no order is possible"));
      }
      state = last.before();
      placed.clear(last.call().operation);
      unlift(last.call());
      at = last.call().next;
    }
    return new Result(Verdict.LINEARIZABLE, steps, "");
  }

  private void link() {
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < operations.size(); i++) {
      Operation operation = operations.get(i);
      Event call = new Event(i, operation.invoked(), true);
      events.add(call);
      if (operation.isDecided()) {
        call.partner = new Event(i, operation.returned(), false);
        events.add(call.partner);
      }
    }
    // At the same time calls come first: that excludes less.
    events.sort(Comparator.<Event>comparingLong(e -> e.time).thenComparing(e -> !e.call));
    Event last = head;
    for (Event event : events) {
      last.next = event;
      event.previous = last;
      last = event;
    }
  }

  private boolean isNew(int operation, RegistryState after) {
    BitSet next = (BitSet) placed.clone();
    next.set(operation);
    return seen.add(new Configuration(next, TopicModel.token(after, topic)));
  }

  private static void lift(Event call) {
    unlink(call);
    if (call.partner != null) {
      unlink(call.partner);
    }
  }

  private static void unlift(Event call) {
    if (call.partner != null) {
      relink(call.partner);
    }
    relink(call);
  }

  private static void unlink(Event event) {
    if (event.previous != null) {
      event.previous.next = event.next;
    }
    if (event.next != null) {
      event.next.previous = event.previous;
    }
  }

  private static void relink(Event event) {
    if (event.previous != null) {
      event.previous.next = event;
    }
    if (event.next != null) {
      event.next.previous = event;
    }
  }

  /** Records the furthest that the search got, for the explanation. */
  private void note(int operation, RegistryState state) {
    if (stuckAt < 0 || order.size() > longest.size()) {
      List<Integer> now = new ArrayList<>();
      order.descendingIterator().forEachRemaining(p -> now.add(p.call().operation));
      longest = now;
      longestToken = TopicModel.token(state, topic);
      stuckAt = operation;
    }
  }

  private String explain(String why) {
    long origin = Operation.origin(operations);
    StringBuilder text = new StringBuilder();
    text.append("topic '").append(topic).append("': ").append(why).append('\n');
    text.append("  the longest order that was found:\n");
    int from = Math.max(0, longest.size() - 12);
    if (from > 0) {
      text.append("    (").append(from).append(" operations before)\n");
    }
    for (int i : longest.subList(from, longest.size())) {
      text.append("    ").append(operations.get(i).describe(origin)).append('\n');
    }
    text.append("  then the configuration is ")
        .append(longestToken.isEmpty() ? "none" : longestToken)
        .append("; what had to come next does not fit:\n");
    if (stuckAt >= 0) {
      Operation stuck = operations.get(stuckAt);
      text.append("  ! ").append(stuck.describe(origin)).append('\n');
      for (int i = 0; i < operations.size(); i++) {
        Operation other = operations.get(i);
        if (i != stuckAt && !longest.contains(i) && other.invoked() <= stuck.returned()) {
          text.append("  | ").append(other.describe(origin)).append('\n');
        }
      }
    }
    return text.toString();
  }
}
