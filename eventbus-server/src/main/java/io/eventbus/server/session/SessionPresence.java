package io.eventbus.server.session;

import io.eventbus.server.call.Presence;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Tells of one session that it serves, and how it stopped. Confined to the loop. */
final class SessionPresence {
  private final Presence presence;
  private final String account;
  private final Supplier<ClientInfo> client;
  private final BooleanSupplier cameFromElsewhere;
  private final BooleanSupplier goesElsewhere;
  private final BooleanSupplier saidGoodbye;

  /**
   * Makes one.
   *
   * @param cameFromElsewhere whether it was at another bus just before
   */
  SessionPresence(
      Presence presence,
      String account,
      Supplier<ClientInfo> client,
      BooleanSupplier cameFromElsewhere,
      BooleanSupplier goesElsewhere,
      BooleanSupplier saidGoodbye) {
    this.presence = presence;
    this.account = account;
    this.client = client;
    this.cameFromElsewhere = cameFromElsewhere;
    this.goesElsewhere = goesElsewhere;
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
        cameFromElsewhere.getAsBoolean());
  }

  /** It serves no more, and stays connected. */
  void left(SessionServices.Registration registration) {
    left(
        registration,
        goesElsewhere.getAsBoolean() ? Presence.Departure.ELSEWHERE : Presence.Departure.FINAL);
  }

  /** Its connection has ended. */
  void ended(SessionServices.Registration registration) {
    left(
        registration,
        saidGoodbye.getAsBoolean() ? Presence.Departure.FINAL : Presence.Departure.LOST);
  }

  private void left(SessionServices.Registration registration, Presence.Departure how) {
    presence.left(registration.service(), client.get().producer(), how);
  }
}
