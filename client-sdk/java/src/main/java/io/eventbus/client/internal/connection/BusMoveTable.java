package io.eventbus.client.internal.connection;

import static io.eventbus.client.internal.connection.BusMoveTable.Action.ABANDON;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.COME_BACK;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.COME_BACK_SENDING;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.FINISH;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.FLUSH;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.GO_ON;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.LEAVE;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.LOOK_LATER;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.LOSE_BOTH;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.LOSE_SENDING;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.MOVE_SENDING;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.MOVE_SENDING_AND_FINISH;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.NOTHING;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.PAUSE;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.RELEASE_AND_FINISH;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.RESUME_SENDING_AND_FINISH;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.STAY;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.STAY_UNBEGUN;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.SUBSCRIBE;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.UNDO;
import static io.eventbus.client.internal.connection.BusMoveTable.Action.WAIT_ON;

import java.util.EnumMap;
import java.util.Map;

/**
 * Transition table of a {@link BusMove}: from phase and event to action and next phase. Pure: no
 * clock, no connection, no memory. A pair that is not in the table changes nothing, because an
 * event may come late.
 *
 * <pre>
 *   CONNECTING --READY--> SUBSCRIBING --CONFIRMED--> FLUSHING --FLUSHED--> LEAVING
 *       |                      \________________________/                     |
 *       |                         | REFUSED, LATE, TOO_MUCH        SENT and DRAINED, in any order
 *       |                         v                                           |
 *       '--- stay --> OVER &lt;-- UNDOING                                        '--> MOVED
 * </pre>
 *
 * <p>When the old connection ends after READY, the client goes on at the new bus (OLD_LOST); when
 * the new one ends after FLUSHED, it takes what the old bus still has and comes back (NEW_LOST);
 * when both end, there is no connection any more, whichever was first.
 */
final class BusMoveTable {
  /** Phase of a move. */
  enum Phase {
    /** Connecting to the new bus. */
    CONNECTING,
    /** Asking the new bus for all subscriptions. */
    SUBSCRIBING,
    /** Waiting for the old bus to say that it has forwarded all that was published. */
    FLUSHING,
    /** Leaving the old bus, which has forwarded everything: neither direction has moved yet. */
    LEAVING,
    /** Publishing at the new bus while the old one still has events for the client. */
    SENDING_MOVED,
    /** Sending the rest to the old bus, which has no more events. */
    RECEIVING_MOVED,
    /** Going on at the new bus because the old connection is lost. */
    OLD_LOST,
    /** Returning to the old bus: the new connection is lost, and nothing was published there. */
    NEW_LOST,
    /**
     * Returning to the old bus: the new connection is lost after the client began to publish there.
     */
    NEW_LOST_SENDING,
    /** Staying, once the new bus has ended the subscriptions. */
    UNDOING,
    /** End of a move that succeeded: the client is at the new bus. */
    MOVED,
    /** End of a move that failed: the client has not moved. */
    OVER;

    boolean isOver() {
      return this == MOVED || this == OVER;
    }
  }

  /** Event that a move reacts to. */
  enum Event {
    /** Welcome from the new bus. */
    READY,
    /** Failure of all addresses: none leads to a bus that accepts this client. */
    UNREACHABLE,
    /** Confirmation of all subscriptions by the new bus. */
    CONFIRMED,
    /** Refusal of a subscription by the new bus. */
    REFUSED,
    /** Overflow: the old connection brings more for groups than may be held. */
    TOO_MUCH,
    /** Deadline of the old bus, which will not wait much longer. */
    LATE,
    /** Answer of the old bus that it has forwarded all that was published. */
    FLUSHED,
    /** Failure to say so in time, or an answer that is not read. */
    NOT_FLUSHED,
    /** End of the pause after that. */
    ASK_AGAIN,
    /** Connection is read, so the answer may still come. */
    FLOWING,
    /** End of all that had to be sent before events go to the new bus. */
    SENT,
    /** Answer of the old bus that it sends nothing more. */
    DRAINED,
    /** End of the time to drain, while the application has not consumed what came. */
    BEHIND,
    /** End of the time to drain. */
    WAITED,
    /** End of the new connection. */
    NEW_ENDED,
    /** End of the old connection. */
    OLD_ENDED,
    /** End of the subscriptions at the new bus, or of the time for that. */
    UNDONE,
    /** End of the client. */
    CLOSED
  }

  /** Reaction to an event. */
  enum Action {
    /** Does nothing. */
    NOTHING,
    /** Asks the new bus for all subscriptions. */
    SUBSCRIBE,
    /** Stops publishing and asks the old bus whether it has forwarded everything. */
    FLUSH,
    /** Publishes at the old bus for a moment. */
    PAUSE,
    /** Looks again whether the answer can come. */
    LOOK_LATER,
    /** Unsubscribes from the old bus. */
    LEAVE,
    /** Publishes at the new bus. */
    MOVE_SENDING,
    /** Publishes at the new bus, which is the client's from now on. */
    MOVE_SENDING_AND_FINISH,
    /** Makes the new bus the client's. */
    FINISH,
    /** Makes the new bus the client's, and hands on what it has brought. */
    RELEASE_AND_FINISH,
    /** Gives up the old connection; what it had not confirmed is sent again. */
    GO_ON,
    /** Publishes at the new bus again, which is the client's from now on. */
    RESUME_SENDING_AND_FINISH,
    /** Publishes nowhere until the client has come back. */
    LOSE_SENDING,
    /** Gives the application more time to consume what came. */
    WAIT_ON,
    /** Subscribes at the old bus again. */
    COME_BACK,
    /** Subscribes and publishes at the old bus again. */
    COME_BACK_SENDING,
    /** Takes back what was asked of the new bus. */
    UNDO,
    /** Drops the new connection before anything was asked of it. */
    STAY_UNBEGUN,
    /** Drops the new connection. */
    STAY,
    /** Drops the new connection; the end of the old one was reported where it was noticed. */
    ABANDON,
    /** Reports that there is no connection any more. */
    LOSE_BOTH
  }

  /** Action, and the phase that follows it. */
  record Step(Phase next, Action action) {}

  private static final Map<Phase, Map<Event, Step>> TABLE = new EnumMap<>(Phase.class);

  static {
    on(Phase.CONNECTING, Event.READY, Phase.SUBSCRIBING, SUBSCRIBE);
    on(Phase.CONNECTING, Event.UNREACHABLE, Phase.OVER, STAY_UNBEGUN);
    on(Phase.CONNECTING, Event.LATE, Phase.OVER, STAY_UNBEGUN);
    on(Phase.CONNECTING, Event.NEW_ENDED, Phase.OVER, STAY_UNBEGUN);
    on(Phase.CONNECTING, Event.OLD_ENDED, Phase.OVER, ABANDON);

    on(Phase.SUBSCRIBING, Event.CONFIRMED, Phase.FLUSHING, FLUSH);
    on(Phase.SUBSCRIBING, Event.REFUSED, Phase.UNDOING, UNDO);
    on(Phase.SUBSCRIBING, Event.TOO_MUCH, Phase.UNDOING, UNDO);
    on(Phase.SUBSCRIBING, Event.LATE, Phase.UNDOING, UNDO);
    on(Phase.SUBSCRIBING, Event.NEW_ENDED, Phase.OVER, STAY);
    on(Phase.SUBSCRIBING, Event.OLD_ENDED, Phase.OLD_LOST, GO_ON);

    on(Phase.FLUSHING, Event.FLUSHED, Phase.LEAVING, LEAVE);
    on(Phase.FLUSHING, Event.NOT_FLUSHED, Phase.FLUSHING, PAUSE);
    on(Phase.FLUSHING, Event.ASK_AGAIN, Phase.FLUSHING, FLUSH);
    on(Phase.FLUSHING, Event.FLOWING, Phase.FLUSHING, LOOK_LATER);
    on(Phase.FLUSHING, Event.TOO_MUCH, Phase.UNDOING, UNDO);
    on(Phase.FLUSHING, Event.LATE, Phase.UNDOING, UNDO);
    on(Phase.FLUSHING, Event.NEW_ENDED, Phase.OVER, STAY);
    on(Phase.FLUSHING, Event.OLD_ENDED, Phase.OLD_LOST, GO_ON);

    on(Phase.LEAVING, Event.SENT, Phase.SENDING_MOVED, MOVE_SENDING);
    on(Phase.LEAVING, Event.DRAINED, Phase.RECEIVING_MOVED, NOTHING);
    on(Phase.LEAVING, Event.BEHIND, Phase.LEAVING, WAIT_ON);
    on(Phase.LEAVING, Event.WAITED, Phase.OLD_LOST, GO_ON);
    on(Phase.LEAVING, Event.NEW_ENDED, Phase.NEW_LOST, NOTHING);
    on(Phase.LEAVING, Event.OLD_ENDED, Phase.OLD_LOST, GO_ON);

    on(Phase.SENDING_MOVED, Event.DRAINED, Phase.MOVED, FINISH);
    on(Phase.SENDING_MOVED, Event.BEHIND, Phase.SENDING_MOVED, WAIT_ON);
    on(Phase.SENDING_MOVED, Event.WAITED, Phase.MOVED, RELEASE_AND_FINISH);
    on(Phase.SENDING_MOVED, Event.NEW_ENDED, Phase.NEW_LOST_SENDING, LOSE_SENDING);
    on(Phase.SENDING_MOVED, Event.OLD_ENDED, Phase.MOVED, RELEASE_AND_FINISH);

    on(Phase.RECEIVING_MOVED, Event.SENT, Phase.MOVED, MOVE_SENDING_AND_FINISH);
    on(Phase.RECEIVING_MOVED, Event.BEHIND, Phase.RECEIVING_MOVED, WAIT_ON);
    on(Phase.RECEIVING_MOVED, Event.WAITED, Phase.OLD_LOST, GO_ON);
    on(Phase.RECEIVING_MOVED, Event.NEW_ENDED, Phase.OVER, COME_BACK);
    on(Phase.RECEIVING_MOVED, Event.OLD_ENDED, Phase.OLD_LOST, GO_ON);

    on(Phase.OLD_LOST, Event.SENT, Phase.MOVED, RESUME_SENDING_AND_FINISH);
    on(Phase.OLD_LOST, Event.NEW_ENDED, Phase.OVER, LOSE_BOTH);

    on(Phase.NEW_LOST, Event.DRAINED, Phase.OVER, COME_BACK);
    on(Phase.NEW_LOST, Event.BEHIND, Phase.NEW_LOST, WAIT_ON);
    on(Phase.NEW_LOST, Event.WAITED, Phase.OVER, COME_BACK);
    on(Phase.NEW_LOST, Event.OLD_ENDED, Phase.OVER, ABANDON);

    on(Phase.NEW_LOST_SENDING, Event.DRAINED, Phase.OVER, COME_BACK_SENDING);
    on(Phase.NEW_LOST_SENDING, Event.BEHIND, Phase.NEW_LOST_SENDING, WAIT_ON);
    on(Phase.NEW_LOST_SENDING, Event.WAITED, Phase.OVER, COME_BACK_SENDING);
    on(Phase.NEW_LOST_SENDING, Event.OLD_ENDED, Phase.OVER, ABANDON);

    on(Phase.UNDOING, Event.UNDONE, Phase.OVER, STAY);
    on(Phase.UNDOING, Event.NEW_ENDED, Phase.OVER, STAY);
    on(Phase.UNDOING, Event.OLD_ENDED, Phase.OVER, ABANDON);

    for (Phase phase : Phase.values()) {
      if (!phase.isOver()) {
        on(phase, Event.CLOSED, Phase.OVER, ABANDON);
      }
    }
  }

  private BusMoveTable() {}

  private static void on(Phase phase, Event event, Phase next, Action action) {
    TABLE
        .computeIfAbsent(phase, p -> new EnumMap<>(Event.class))
        .put(event, new Step(next, action));
  }

  static Step step(Phase phase, Event event) {
    return TABLE.getOrDefault(phase, Map.of()).getOrDefault(event, new Step(phase, NOTHING));
  }
}
