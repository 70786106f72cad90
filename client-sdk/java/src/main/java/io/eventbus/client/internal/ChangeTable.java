package io.eventbus.client.internal;

import static io.eventbus.client.internal.ChangeTable.Action.ABANDON;
import static io.eventbus.client.internal.ChangeTable.Action.COME_BACK;
import static io.eventbus.client.internal.ChangeTable.Action.COME_BACK_SENDING;
import static io.eventbus.client.internal.ChangeTable.Action.FINISH;
import static io.eventbus.client.internal.ChangeTable.Action.FLUSH;
import static io.eventbus.client.internal.ChangeTable.Action.GO_ON;
import static io.eventbus.client.internal.ChangeTable.Action.LEAVE;
import static io.eventbus.client.internal.ChangeTable.Action.LOOK_LATER;
import static io.eventbus.client.internal.ChangeTable.Action.LOSE_BOTH;
import static io.eventbus.client.internal.ChangeTable.Action.LOSE_SENDING;
import static io.eventbus.client.internal.ChangeTable.Action.MOVE_SENDING;
import static io.eventbus.client.internal.ChangeTable.Action.MOVE_SENDING_AND_FINISH;
import static io.eventbus.client.internal.ChangeTable.Action.NOTHING;
import static io.eventbus.client.internal.ChangeTable.Action.PAUSE;
import static io.eventbus.client.internal.ChangeTable.Action.RELEASE_AND_FINISH;
import static io.eventbus.client.internal.ChangeTable.Action.RESUME_SENDING_AND_FINISH;
import static io.eventbus.client.internal.ChangeTable.Action.STAY;
import static io.eventbus.client.internal.ChangeTable.Action.STAY_UNBEGUN;
import static io.eventbus.client.internal.ChangeTable.Action.SUBSCRIBE;
import static io.eventbus.client.internal.ChangeTable.Action.UNDO;
import static io.eventbus.client.internal.ChangeTable.Action.WAIT_ON;

import java.util.EnumMap;
import java.util.Map;

/**
 * What a {@link BusChange} does when something happens, as a table: from phase and event to action
 * and next phase. Pure: no clock, no connection, no memory. A pair that is not in the table changes
 * nothing, because what happens may come late.
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
final class ChangeTable {
  /** How far the change is. */
  enum Phase {
    /** A connection to the new bus is being made. */
    CONNECTING,
    /** The new bus was asked for all subscriptions. */
    SUBSCRIBING,
    /** The old bus was asked whether it has handed on all that was published. */
    FLUSHING,
    /** It has, and nothing more is wanted of it: neither direction has moved yet. */
    LEAVING,
    /** The client publishes at the new bus; the old one still has events for it. */
    SENDING_MOVED,
    /** The old bus has no more events; what is to be said to it is not all sent. */
    RECEIVING_MOVED,
    /** The old connection is lost; the client goes on at the new bus. */
    OLD_LOST,
    /** The new connection is lost while nothing was published there. */
    NEW_LOST,
    /** The new connection is lost after the client had begun to publish there. */
    NEW_LOST_SENDING,
    /** The client stays; the new bus has to end the subscriptions first. */
    UNDOING,
    /** The change is over: the client is at the new bus. */
    MOVED,
    /** The change is over: the client has not moved. */
    OVER;

    boolean isOver() {
      return this == MOVED || this == OVER;
    }
  }

  /** What happens. */
  enum Event {
    /** The new bus has welcomed this client. */
    READY,
    /** No address leads to a bus that takes this client. */
    UNREACHABLE,
    /** The new bus has confirmed all subscriptions. */
    CONFIRMED,
    /** The new bus refuses a subscription. */
    REFUSED,
    /** The old connection brings more for groups than is to be held. */
    TOO_MUCH,
    /** The old bus will not wait much longer. */
    LATE,
    /** The old bus has handed on all that was published. */
    FLUSHED,
    /** The old bus could not say so, or its answer is not read. */
    NOT_FLUSHED,
    /** The pause after that is over. */
    ASK_AGAIN,
    /** The answer may still come: the connection is read. */
    FLOWING,
    /** All that was to be said before events go to the new bus has been sent. */
    SENT,
    /** The old bus sends nothing more. */
    DRAINED,
    /** It has had its time to send, but the application has not taken what came. */
    BEHIND,
    /** It has had its time to send. */
    WAITED,
    /** The new connection has ended. */
    NEW_ENDED,
    /** The old connection has ended. */
    OLD_ENDED,
    /** The new bus has ended the subscriptions, or has had its time to. */
    UNDONE,
    /** The client is closed. */
    CLOSED
  }

  /** What is done about it. */
  enum Action {
    /** Nothing. */
    NOTHING,
    /** Asks the new bus for all subscriptions. */
    SUBSCRIBE,
    /** Stops publishing and asks the old bus whether it has handed on everything. */
    FLUSH,
    /** Publishes on at the old bus for a moment. */
    PAUSE,
    /** Looks again whether the answer can come. */
    LOOK_LATER,
    /** Wants nothing more of the old bus. */
    LEAVE,
    /** Publishes at the new bus. */
    MOVE_SENDING,
    /** Publishes at the new bus, which is the client's from now on. */
    MOVE_SENDING_AND_FINISH,
    /** The new bus is the client's from now on. */
    FINISH,
    /** The same, and what it has brought is handed on. */
    RELEASE_AND_FINISH,
    /** Gives up the old connection; what it had not confirmed is sent again. */
    GO_ON,
    /** Publishes at the new bus after that, which is the client's from now on. */
    RESUME_SENDING_AND_FINISH,
    /** Publishes nowhere until the client has come back. */
    LOSE_SENDING,
    /** Gives the application more time to take what came. */
    WAIT_ON,
    /** Subscribes at the old bus again. */
    COME_BACK,
    /** The same, and publishes there again. */
    COME_BACK_SENDING,
    /** Takes back what was asked of the new bus. */
    UNDO,
    /** Drops the new connection before anything was asked of it. */
    STAY_UNBEGUN,
    /** Drops the new connection. */
    STAY,
    /** Drops the new connection; the old one's end was told where it was noticed. */
    ABANDON,
    /** There is no connection any more. */
    LOSE_BOTH
  }

  /** What to do, and in which phase the change is then. */
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

  private ChangeTable() {}

  private static void on(Phase phase, Event event, Phase next, Action action) {
    TABLE
        .computeIfAbsent(phase, p -> new EnumMap<>(Event.class))
        .put(event, new Step(next, action));
  }

  static Step step(Phase phase, Event event) {
    return TABLE.getOrDefault(phase, Map.of()).getOrDefault(event, new Step(phase, NOTHING));
  }
}
