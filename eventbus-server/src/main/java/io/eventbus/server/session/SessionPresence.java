package io.eventbus.server.session;

import io.eventbus.server.call.Presence;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Reports the registrations of one session, and why they ended. Confined to the loop. */
final class SessionPresence {
  private final Presence presence;
  private final String account;
  private final Supplier<ClientInfo> client;
  private final BooleanSupplier hasMovedHere;
  private final BooleanSupplier isMovingAway;
  private final BooleanSupplier saidGoodbye;

  /**
   * Creates the reporter of a session.
   *
   * @param hasMovedHere whether the client was at a peer just before
   */
  SessionPresence(
      Presence presence,
      String account,
      Supplier<ClientInfo> client,
      BooleanSupplier hasMovedHere,
      BooleanSupplier isMovingAway,
      BooleanSupplier saidGoodbye) {
    this.presence = presence;
    this.account = account;
    this.client = client;
    this.hasMovedHere = hasMovedHere;
    this.isMovingAway = isMovingAway;
    this.saidGoodbye = saidGoodbye;
  }

  void joined(SessionServices.Registration registration, int concurrency) {
    ClientInfo identity = client.get();
    presence.joined(
        registration.service(),
        new Presence.Member(
            account,
            identity.producer(),
            identity.client(),
            concurrency,
            registration.version(),
            registration.metadata()),
        hasMovedHere.getAsBoolean());
  }

  /** Reports that a client that stays connected no longer serves. */
  void left(SessionServices.Registration registration) {
    left(
        registration,
        isMovingAway.getAsBoolean() ? Presence.Departure.MOVED_AWAY : Presence.Departure.FINAL);
  }

  /** Reports that the connection of a member has ended. */
  void ended(SessionServices.Registration registration) {
    left(
        registration,
        saidGoodbye.getAsBoolean() ? Presence.Departure.FINAL : Presence.Departure.LOST);
  }

  private void left(SessionServices.Registration registration, Presence.Departure departure) {
    presence.left(registration.service(), client.get().producer(), departure);
  }
}
