"""State table of a move to another bus. ``_bus_move`` has the drawing."""

from __future__ import annotations

from enum import Enum, auto


class Phase(Enum):
    """Phase of a move."""

    CONNECTING = auto()
    SUBSCRIBING = auto()
    FLUSHING = auto()
    LEAVING = auto()
    SENDING_MOVED = auto()
    RECEIVING_MOVED = auto()
    OLD_LOST = auto()
    NEW_LOST = auto()
    NEW_LOST_SENDING = auto()
    UNDOING = auto()
    MOVED = auto()
    OVER = auto()


class MoveEvent(Enum):
    """Event of a move."""

    READY = auto()
    UNREACHABLE = auto()
    CONFIRMED = auto()
    REFUSED = auto()
    TOO_MUCH = auto()
    LATE = auto()
    FLUSHED = auto()
    NOT_FLUSHED = auto()
    ASK_AGAIN = auto()
    FLOWING = auto()
    SENT = auto()
    DRAINED = auto()
    BEHIND = auto()
    WAITED = auto()
    NEW_ENDED = auto()
    OLD_ENDED = auto()
    UNDONE = auto()
    CLOSED = auto()


_P, _E = Phase, MoveEvent

#: From phase and event to action (a method of BusMove; None for none) and next phase. A pair that is not here changes nothing,
#: because an event may come late.
TABLE: dict[tuple[Phase, MoveEvent], tuple[str | None, Phase]] = {
    (_P.CONNECTING, _E.READY): ("subscribe", _P.SUBSCRIBING),
    (_P.CONNECTING, _E.UNREACHABLE): ("stay_unbegun", _P.OVER),
    (_P.CONNECTING, _E.LATE): ("stay_unbegun", _P.OVER),
    (_P.CONNECTING, _E.NEW_ENDED): ("stay_unbegun", _P.OVER),
    (_P.CONNECTING, _E.OLD_ENDED): ("drop", _P.OVER),
    (_P.SUBSCRIBING, _E.CONFIRMED): ("flush", _P.FLUSHING),
    (_P.SUBSCRIBING, _E.REFUSED): ("undo", _P.UNDOING),
    (_P.SUBSCRIBING, _E.TOO_MUCH): ("undo", _P.UNDOING),
    (_P.SUBSCRIBING, _E.LATE): ("undo", _P.UNDOING),
    (_P.SUBSCRIBING, _E.NEW_ENDED): ("stay", _P.OVER),
    (_P.SUBSCRIBING, _E.OLD_ENDED): ("go_on", _P.OLD_LOST),
    (_P.FLUSHING, _E.FLUSHED): ("leave", _P.LEAVING),
    (_P.FLUSHING, _E.NOT_FLUSHED): ("postpone_flush", _P.FLUSHING),
    (_P.FLUSHING, _E.ASK_AGAIN): ("flush", _P.FLUSHING),
    (_P.FLUSHING, _E.FLOWING): ("check_later", _P.FLUSHING),
    (_P.FLUSHING, _E.TOO_MUCH): ("undo", _P.UNDOING),
    (_P.FLUSHING, _E.LATE): ("undo", _P.UNDOING),
    (_P.FLUSHING, _E.NEW_ENDED): ("stay", _P.OVER),
    (_P.FLUSHING, _E.OLD_ENDED): ("go_on", _P.OLD_LOST),
    (_P.LEAVING, _E.SENT): ("move_sending", _P.SENDING_MOVED),
    (_P.LEAVING, _E.DRAINED): (None, _P.RECEIVING_MOVED),
    (_P.LEAVING, _E.BEHIND): ("wait_on", _P.LEAVING),
    (_P.LEAVING, _E.WAITED): ("go_on", _P.OLD_LOST),
    (_P.LEAVING, _E.NEW_ENDED): (None, _P.NEW_LOST),
    (_P.LEAVING, _E.OLD_ENDED): ("go_on", _P.OLD_LOST),
    (_P.SENDING_MOVED, _E.DRAINED): ("finish", _P.MOVED),
    (_P.SENDING_MOVED, _E.BEHIND): ("wait_on", _P.SENDING_MOVED),
    (_P.SENDING_MOVED, _E.WAITED): ("release_and_finish", _P.MOVED),
    (_P.SENDING_MOVED, _E.NEW_ENDED): ("lose_sending", _P.NEW_LOST_SENDING),
    (_P.SENDING_MOVED, _E.OLD_ENDED): ("release_and_finish", _P.MOVED),
    (_P.RECEIVING_MOVED, _E.SENT): ("move_sending_and_finish", _P.MOVED),
    (_P.RECEIVING_MOVED, _E.BEHIND): ("wait_on", _P.RECEIVING_MOVED),
    (_P.RECEIVING_MOVED, _E.WAITED): ("go_on", _P.OLD_LOST),
    (_P.RECEIVING_MOVED, _E.NEW_ENDED): ("come_back", _P.OVER),
    (_P.RECEIVING_MOVED, _E.OLD_ENDED): ("go_on", _P.OLD_LOST),
    (_P.OLD_LOST, _E.SENT): ("resume_sending_and_finish", _P.MOVED),
    (_P.OLD_LOST, _E.NEW_ENDED): ("lose_both", _P.OVER),
    (_P.NEW_LOST, _E.DRAINED): ("come_back", _P.OVER),
    (_P.NEW_LOST, _E.BEHIND): ("wait_on", _P.NEW_LOST),
    (_P.NEW_LOST, _E.WAITED): ("come_back", _P.OVER),
    (_P.NEW_LOST, _E.OLD_ENDED): ("drop", _P.OVER),
    (_P.NEW_LOST_SENDING, _E.DRAINED): ("come_back_sending", _P.OVER),
    (_P.NEW_LOST_SENDING, _E.BEHIND): ("wait_on", _P.NEW_LOST_SENDING),
    (_P.NEW_LOST_SENDING, _E.WAITED): ("come_back_sending", _P.OVER),
    (_P.NEW_LOST_SENDING, _E.OLD_ENDED): ("drop", _P.OVER),
    (_P.UNDOING, _E.UNDONE): ("stay", _P.OVER),
    (_P.UNDOING, _E.NEW_ENDED): ("stay", _P.OVER),
    (_P.UNDOING, _E.OLD_ENDED): ("drop", _P.OVER),
    **{(phase, _E.CLOSED): ("drop", _P.OVER) for phase in _P if phase not in (_P.MOVED, _P.OVER)},
}
