package io.eventbus.server.session;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Problem;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Barriers of one session, answered when everything that it sent before has reached its
 * subscribers, or is stored if the topic is durable. Barriers that arrive during a query share the
 * next query, because each costs tasks on all loops. Confined to the loop.
 */
final class SessionBarriers {
  /** Barriers of a session that may wait. */
  static final int MAX_WAITING = 1_024;

  /** Units of work that a query costs, including the other loops. */
  private static final int QUERY_UNITS = 16;

  private final LoopContext loop;
  private final Session session;
  // Barriers of the next query; null while no query is under way.
  private @Nullable List<Barrier> next;
  private int waiting;

  SessionBarriers(LoopContext loop, Session session) {
    this.loop = loop;
    this.session = session;
  }

  /**
   * Adds a barrier. Everything before it has been routed here by now; peers may not have it yet.
   */
  void add(Barrier barrier) {
    if (waiting >= MAX_WAITING) {
      refuse(barrier, waiting + " barriers wait already (expected: at most " + MAX_WAITING + ")");
      return;
    }
    waiting++;
    if (next != null) {
      next.add(barrier);
    } else {
      ask(List.of(barrier));
    }
  }

  private void ask(List<Barrier> barriers) {
    next = new ArrayList<>();
    loop.budget().spend(QUERY_UNITS);
    session.whenStored(
        () ->
            loop.bus
                .cluster()
                .whenPublishedDelivered(
                    loop.router.loop(), session.producer(), reached -> answer(barriers, reached)));
  }

  private void answer(List<Barrier> barriers, boolean reached) {
    List<Barrier> later = next == null ? List.of() : next;
    next = null;
    waiting -= barriers.size();
    if (!session.isOpen()) {
      return;
    }
    for (Barrier barrier : barriers) {
      if (reached) {
        session.out().send(ControlFrames.encode(TypeCode.BARRIER, barrier));
        session.move().flushed();
      } else {
        refuse(barrier, "another bus did not confirm in time that it has all that was sent before");
      }
    }
    if (!later.isEmpty()) {
      ask(later);
    }
  }

  private void refuse(Barrier barrier, String why) {
    session.sendProblem(
        new Problem(
            ErrorCode.OVERLOADED,
            why + "; ask again",
            true,
            barrier.getId(),
            TypeCode.BARRIER.code(),
            ""));
  }
}
