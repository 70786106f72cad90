package io.eventbus.server.session;

import io.eventbus.server.call.Presence;

/** Reports the registrations of one session, and why they ended. Confined to the loop. */
final class SessionPresence {
  private final Presence presence;
  private final Session session;
  private final SessionMove move;

  SessionPresence(Presence presence, Session session, SessionMove move) {
    this.presence = presence;
    this.session = session;
    this.move = move;
  }

  void joined(SessionServices.Registration registration, int concurrency) {
    ClientInfo client = session.identity();
    presence.joined(
        registration.service(),
        new Presence.Member(
            session.principal().account(),
            client.producer(),
            client.client(),
            concurrency,
            registration.version(),
            registration.metadata()),
        move.isRecent(client.since()));
  }

  /** Reports that a client that stays connected no longer serves. */
  void left(SessionServices.Registration registration) {
    left(registration, move.isPending() ? Presence.Departure.MOVED_AWAY : Presence.Departure.FINAL);
  }

  /** Reports that the connection of a member has ended. */
  void ended(SessionServices.Registration registration) {
    left(registration, session.saidGoodbye() ? Presence.Departure.FINAL : Presence.Departure.LOST);
  }

  private void left(SessionServices.Registration registration, Presence.Departure departure) {
    presence.left(registration.service(), session.producer(), departure);
  }
}
