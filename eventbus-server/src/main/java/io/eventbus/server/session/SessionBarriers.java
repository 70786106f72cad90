package io.eventbus.server.session;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Problem;

/** What one session asks to hear of: that everything it sent before has arrived. Confined. */
final class SessionBarriers {
  private final LoopContext loop;
  private final Session session;

  SessionBarriers(LoopContext loop, Session session) {
    this.loop = loop;
    this.session = session;
  }

  /** Everything before has been routed here by now; other buses may not have it yet. */
  void add(Barrier barrier) {
    loop.bus
        .cluster()
        .afterPublishedDelivered(
            loop.router.loop(), session.producer(), reached -> answer(barrier, reached));
  }

  private void answer(Barrier barrier, boolean reached) {
    if (!session.isOpen()) {
      return;
    }
    if (reached) {
      session.link().send(ControlFrames.encode(TypeCode.BARRIER, barrier));
      return;
    }
    session.tell(
        new Problem(
            ErrorCode.OVERLOADED,
            "another bus did not say in time that it has all that was sent before; ask again",
            true,
            barrier.getId(),
            TypeCode.BARRIER.code(),
            ""));
  }
}
