package io.eventbus.server.admin;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.Revocation;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.server.admin.AdminApi.Route;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Identity;
import io.eventbus.server.view.BusView;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Resources of the administration port that revoke credentials of clients. Safe for use by several
 * threads.
 */
final class RevocationApi {
  private static final String PATH = "/api/v1/revocations";

  /**
   * Time that a revocation is kept: a token lives for 24 hours at most, and an hour is more than
   * clocks and skew make of it.
   */
  static final Duration KEPT = Duration.ofHours(25);

  private final BusView bus;
  private final WaitingCalls calls;
  private final Clock clock;

  RevocationApi(BusView bus, WaitingCalls calls, Clock clock) {
    this.bus = bus;
    this.calls = calls;
    this.clock = clock;
  }

  List<Route> routes() {
    return List.of(
        Route.get(PATH, (request, id) -> list(request)),
        Route.put(PATH, (request, id) -> revoke(request)).forRole(AdminRole.ADMIN),
        Route.delete(PATH, (request, id) -> lift(request)).forRole(AdminRole.ADMIN));
  }

  /**
   * Revocation of a client's credentials.
   *
   * @param account of the client; empty for the account of all that have none
   */
  record Item(String account, String subject, Instant issuedBefore) {
    static Item of(Revocation revocation) {
      return new Item(
          revocation.who().account(),
          revocation.who().subject(),
          Instant.ofEpochMilli(revocation.issuedBeforeMillis()));
    }
  }

  /**
   * Result of a request.
   *
   * @param keptFor "cluster", or "process" if the bus serves alone: then it ends with it
   */
  record Revoked(String account, String subject, Instant issuedBefore, String keptFor) {}

  private AdminReply list(AdminRequest request) throws HttpFailure {
    QueryString query = request.query(Set.of("after", "limit"));
    int limit = query.limit();
    String after = query.text("after", "");
    int colon = after.indexOf(':');
    if (!after.isEmpty() && colon < 0) {
      throw HttpFailure.badRequest("after: illegal (expected: account:subject)");
    }
    AccountSubject last =
        after.isEmpty() ? null : client(after.substring(0, colon), after.substring(colon + 1));
    List<Item> found = new ArrayList<>();
    for (Revocation revocation : bus.cluster().registry().snapshot().revocations()) {
      if (found.size() > limit) {
        break;
      }
      if (last == null || revocation.who().compareTo(last) > 0) {
        found.add(Item.of(revocation));
      }
    }
    return AdminApi.page(found, limit, PATH, item -> item.account() + ":" + item.subject());
  }

  private AdminReply revoke(AdminRequest request) throws HttpFailure {
    QueryString query = request.query(Set.of("account", "subject", "before"));
    AccountSubject who = client(query.text("account", ""), query.text("subject", ""));
    Instant before = before(query.text("before", ""));
    CommandResult.SubjectRevoked done =
        submit(
            new RevocationCommand.Revoke(who, before.toEpochMilli(), KEPT.toMillis()),
            CommandResult.SubjectRevoked.class);
    return AdminReply.ok(
        new Revoked(
            who.account(),
            who.subject(),
            Instant.ofEpochMilli(done.issuedBeforeMillis()),
            bus.cluster().consensus().isPresent() ? "cluster" : "process"));
  }

  private AdminReply lift(AdminRequest request) throws HttpFailure {
    QueryString query = request.query(Set.of("account", "subject"));
    AccountSubject who = client(query.text("account", ""), query.text("subject", ""));
    submit(new RevocationCommand.Lift(who), CommandResult.RevocationLifted.class);
    return AdminReply.ok(new Lifted(who.account(), who.subject(), true));
  }

  /** Revocation that was taken back. */
  record Lifted(String account, String subject, boolean lifted) {}

  private <T extends CommandResult> T submit(RegistryCommand command, Class<T> expected)
      throws HttpFailure {
    CommandResult result =
        calls.await(() -> bus.cluster().registry().submit(command, WaitingCalls.DEADLINE));
    if (result instanceof CommandResult.Refused refused) {
      throw refused.reason() == RegistryRefusalReason.UNKNOWN_REVOCATION
          ? HttpFailure.notFound("revocation")
          : new HttpFailure(409, "REFUSED", refused.message());
    }
    return result.expect(expected);
  }

  private static AccountSubject client(String account, String subject) throws HttpFailure {
    if (!account.isEmpty() && !Identity.isLabel(account)) {
      throw HttpFailure.badRequest("account: illegal " + Identity.LABEL_EXPECTED);
    }
    if (!Identity.isName(subject)) {
      throw HttpFailure.badRequest(
          "subject: missing or illegal (expected: 1 to "
              + Identity.MAX_NAME_CHARS
              + " characters, no control characters)");
    }
    return new AccountSubject(account, subject);
  }

  /** Reads a time; one in the future would shut out clients that log in again until then. */
  private Instant before(String text) throws HttpFailure {
    Instant now = clock.instant();
    if (text.isEmpty()) {
      return now;
    }
    Instant before;
    try {
      before = OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException e) {
      throw HttpFailure.badRequest(
          "before: illegal (expected: a time with its zone, for example 2026-01-02T03:04:05Z)");
    }
    if (before.isAfter(now.plus(Authentications.MAX_SKEW))) {
      throw HttpFailure.badRequest(
          "before: in the future (expected: at the latest now, and "
              + Authentications.MAX_SKEW.toSeconds()
              + " s for an issuer whose clock is ahead)");
    }
    if (before.isBefore(Instant.EPOCH)) {
      throw HttpFailure.badRequest("before: too early (expected: 1970 or later)");
    }
    return before;
  }
}
