"""What is done when in a change of bus: phases, what happens, and the table of both. ``_change`` has the drawing."""

from __future__ import annotations

from enum import Enum, auto


class Phase(Enum):
    """How far the change is."""

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


class What(Enum):
    """What happens."""

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


_P, _W = Phase, What

#: From phase and event to action (a method of Change; None for none) and next phase. A pair that is not here changes nothing,
#: because what happens may come late.
TABLE: dict[tuple[Phase, What], tuple[str | None, Phase]] = {
    (_P.CONNECTING, _W.READY): ("subscribe", _P.SUBSCRIBING),
    (_P.CONNECTING, _W.UNREACHABLE): ("stay_unbegun", _P.OVER),
    (_P.CONNECTING, _W.LATE): ("stay_unbegun", _P.OVER),
    (_P.CONNECTING, _W.NEW_ENDED): ("stay_unbegun", _P.OVER),
    (_P.CONNECTING, _W.OLD_ENDED): ("drop", _P.OVER),
    (_P.SUBSCRIBING, _W.CONFIRMED): ("flush", _P.FLUSHING),
    (_P.SUBSCRIBING, _W.REFUSED): ("undo", _P.UNDOING),
    (_P.SUBSCRIBING, _W.TOO_MUCH): ("undo", _P.UNDOING),
    (_P.SUBSCRIBING, _W.LATE): ("undo", _P.UNDOING),
    (_P.SUBSCRIBING, _W.NEW_ENDED): ("stay", _P.OVER),
    (_P.SUBSCRIBING, _W.OLD_ENDED): ("go_on", _P.OLD_LOST),
    (_P.FLUSHING, _W.FLUSHED): ("leave", _P.LEAVING),
    (_P.FLUSHING, _W.NOT_FLUSHED): ("publish_on_for_a_moment", _P.FLUSHING),
    (_P.FLUSHING, _W.ASK_AGAIN): ("flush", _P.FLUSHING),
    (_P.FLUSHING, _W.FLOWING): ("look_later", _P.FLUSHING),
    (_P.FLUSHING, _W.TOO_MUCH): ("undo", _P.UNDOING),
    (_P.FLUSHING, _W.LATE): ("undo", _P.UNDOING),
    (_P.FLUSHING, _W.NEW_ENDED): ("stay", _P.OVER),
    (_P.FLUSHING, _W.OLD_ENDED): ("go_on", _P.OLD_LOST),
    (_P.LEAVING, _W.SENT): ("move_sending", _P.SENDING_MOVED),
    (_P.LEAVING, _W.DRAINED): (None, _P.RECEIVING_MOVED),
    (_P.LEAVING, _W.BEHIND): ("wait_on", _P.LEAVING),
    (_P.LEAVING, _W.WAITED): ("go_on", _P.OLD_LOST),
    (_P.LEAVING, _W.NEW_ENDED): (None, _P.NEW_LOST),
    (_P.LEAVING, _W.OLD_ENDED): ("go_on", _P.OLD_LOST),
    (_P.SENDING_MOVED, _W.DRAINED): ("finish", _P.MOVED),
    (_P.SENDING_MOVED, _W.BEHIND): ("wait_on", _P.SENDING_MOVED),
    (_P.SENDING_MOVED, _W.WAITED): ("release_and_finish", _P.MOVED),
    (_P.SENDING_MOVED, _W.NEW_ENDED): ("lose_sending", _P.NEW_LOST_SENDING),
    (_P.SENDING_MOVED, _W.OLD_ENDED): ("release_and_finish", _P.MOVED),
    (_P.RECEIVING_MOVED, _W.SENT): ("move_sending_and_finish", _P.MOVED),
    (_P.RECEIVING_MOVED, _W.BEHIND): ("wait_on", _P.RECEIVING_MOVED),
    (_P.RECEIVING_MOVED, _W.WAITED): ("go_on", _P.OLD_LOST),
    (_P.RECEIVING_MOVED, _W.NEW_ENDED): ("come_back", _P.OVER),
    (_P.RECEIVING_MOVED, _W.OLD_ENDED): ("go_on", _P.OLD_LOST),
    (_P.OLD_LOST, _W.SENT): ("resume_sending_and_finish", _P.MOVED),
    (_P.OLD_LOST, _W.NEW_ENDED): ("lose_both", _P.OVER),
    (_P.NEW_LOST, _W.DRAINED): ("come_back", _P.OVER),
    (_P.NEW_LOST, _W.BEHIND): ("wait_on", _P.NEW_LOST),
    (_P.NEW_LOST, _W.WAITED): ("come_back", _P.OVER),
    (_P.NEW_LOST, _W.OLD_ENDED): ("drop", _P.OVER),
    (_P.NEW_LOST_SENDING, _W.DRAINED): ("come_back_sending", _P.OVER),
    (_P.NEW_LOST_SENDING, _W.BEHIND): ("wait_on", _P.NEW_LOST_SENDING),
    (_P.NEW_LOST_SENDING, _W.WAITED): ("come_back_sending", _P.OVER),
    (_P.NEW_LOST_SENDING, _W.OLD_ENDED): ("drop", _P.OVER),
    (_P.UNDOING, _W.UNDONE): ("stay", _P.OVER),
    (_P.UNDOING, _W.NEW_ENDED): ("stay", _P.OVER),
    (_P.UNDOING, _W.OLD_ENDED): ("drop", _P.OVER),
    **{(phase, _W.CLOSED): ("drop", _P.OVER) for phase in _P if phase not in (_P.MOVED, _P.OVER)},
}
