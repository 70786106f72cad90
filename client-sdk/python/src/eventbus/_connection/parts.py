"""Parts of a client that its connections use; wired once by ``Machine``."""

from __future__ import annotations

from dataclasses import dataclass

from .._api.happenings import DropCause, Dropped
from .._base.context import ClientContext
from .._calls.pending_calls import PendingCalls
from .._calls.services import Services
from .._durable.consumers import Consumers
from .._inbound.credit_control import CreditControl
from .._inbound.dispatcher import Dispatcher
from .._outbound.sender import Sender
from .._wire.records import Welcome
from .registry import Registry
from .tokens import TokenRefresh


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
    consumers: Consumers
    tokens: TokenRefresh

    def limit(self, welcome: Welcome) -> None:
        """Applies the limits of a bus, and sends requests there from now on."""
        self.calls.connected(welcome)
        dropped = self.sender.outbox.limit(welcome.limits, welcome.durable)
        if dropped:
            self.context.happenings.append(Dropped(dropped, DropCause.TOO_BIG))
