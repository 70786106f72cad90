package io.eventbus.server.session;

import io.eventbus.server.advisory.Advisory;

/** Describes sessions to those who watch the bus. */
final class ClientAdvisories {
  private ClientAdvisories() {}

  static Advisory connected(Session session) {
    Identity who = session.identity();
    return new Advisory.ClientConnected(
        who.number(), session.link().remoteAddress(), who.id(), who.client(), who.agent());
  }

  static Advisory disconnected(Session session) {
    Identity who = session.identity();
    return new Advisory.ClientDisconnected(
        who.number(),
        session.link().remoteAddress(),
        who.id(),
        who.client(),
        who.since(),
        session.published(),
        session.link().delivered());
  }
}
