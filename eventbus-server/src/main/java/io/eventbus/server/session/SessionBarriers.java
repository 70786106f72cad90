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
 * Barriers of one session: they are answered when everything that it sent before has arrived. What
 * comes while a question is under way shares the next one, because each question costs tasks on all
 * loops. Confined to the loop.
 */
final class SessionBarriers {
  /** Barriers that wait at a time. */
  static final int MAX_WAITING = 1_024;

  /** Units of work that a question costs, on the other loops too. */
  private static final int QUESTION_UNITS = 16;

  private final LoopContext loop;
  private final Session session;
  // The barriers for the next question; null while none is under way.
  private @Nullable List<Barrier> next;
  private int waiting;

  SessionBarriers(LoopContext loop, Session session) {
    this.loop = loop;
    this.session = session;
  }

  /** Everything before has been routed here by now; other buses may not have it yet. */
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
    loop.budget().spend(QUESTION_UNITS);
    loop.bus
        .cluster()
        .afterPublishedDelivered(
            loop.router.loop(), session.producer(), reached -> answer(barriers, reached));
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
        session.link().send(ControlFrames.encode(TypeCode.BARRIER, barrier));
        session.change().flushed();
      } else {
        refuse(barrier, "another bus did not say in time that it has all that was sent before");
      }
    }
    if (!later.isEmpty()) {
      ask(later);
    }
  }

  private void refuse(Barrier barrier, String why) {
    session.tell(
        new Problem(
            ErrorCode.OVERLOADED,
            why + "; ask again",
            true,
            barrier.getId(),
            TypeCode.BARRIER.code(),
            ""));
  }
}
