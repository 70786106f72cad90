package io.eventbus.server.session;

import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Verdict;
import java.util.Locale;

/** Describes sessions in advisories. */
final class ClientAdvisories {
  private ClientAdvisories() {}

  static Advisory connected(Session session) {
    ClientInfo client = session.identity();
    return new Advisory.ClientConnected(
        client.number(),
        session.connection().remoteAddress(),
        client.id(),
        client.client(),
        client.agent(),
        session.principal().account(),
        session.principal().subject(),
        session.principal().method().name().toLowerCase(Locale.ROOT));
  }

  static Advisory denied(Session session, Action action, String name, Verdict verdict) {
    return new Advisory.PermissionDenied(
        session.connection().remoteAddress(),
        session.identity().client(),
        session.principal().account(),
        session.principal().subject(),
        action.name().toLowerCase(Locale.ROOT),
        name,
        verdict.reason(),
        1);
  }

  static Advisory expired(Session session) {
    return new Advisory.ClientExpired(
        session.identity().number(),
        session.connection().remoteAddress(),
        session.id(),
        session.identity().client(),
        session.principal().account(),
        session.principal().subject());
  }

  static Advisory revoked(Session session) {
    return new Advisory.ClientRevoked(
        session.identity().number(),
        session.connection().remoteAddress(),
        session.id(),
        session.identity().client(),
        session.principal().account(),
        session.principal().subject());
  }

  static Advisory disconnected(Session session) {
    ClientInfo client = session.identity();
    return new Advisory.ClientDisconnected(
        client.number(),
        session.connection().remoteAddress(),
        client.id(),
        client.client(),
        session.principal().account(),
        client.since(),
        session.published(),
        session.delivered());
  }
}
