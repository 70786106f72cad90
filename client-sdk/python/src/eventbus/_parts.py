"""Parts of a client that its connections use; wired once by ``Machine``."""

from __future__ import annotations

from dataclasses import dataclass

from ._context import ClientContext
from ._credit_control import CreditControl
from ._dispatch import Dispatcher
from ._happenings import DropCause, Dropped
from ._pending_calls import PendingCalls
from ._registry import Registry
from ._sender import Sender
from ._serving import Services
from ._tokens import TokenRefresh
from ._wire import Welcome


@dataclass(frozen=True, eq=False)
class ClientParts:
    """See the module."""

    context: ClientContext
    sender: Sender
    dispatcher: Dispatcher
    credit: CreditControl
    registry: Registry
    calls: PendingCalls
    services: Services
    tokens: TokenRefresh

    def limit(self, welcome: Welcome) -> None:
        """Applies the limits of a bus, and sends requests there from now on."""
        self.calls.connected(welcome)
        dropped = self.sender.outbox.limit(welcome.limits)
        if dropped:
            self.context.happenings.append(Dropped(dropped, DropCause.TOO_BIG))
