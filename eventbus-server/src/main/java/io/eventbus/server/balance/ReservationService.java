package io.eventbus.server.balance;

import io.eventbus.server.balance.decision.Reservations;
import io.eventbus.server.session.MoveTokens;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Service for buses that want to send clients here: grants as many as there is room for, each with
 * a token. Confined to the balance thread.
 */
final class ReservationService {
  private static final int MAX_LIFE_MILLIS = 300_000;

  private final Reservations reservations;
  private final MoveTokens tokens;
  private long granted;
  private long refused;

  ReservationService(Reservations reservations, MoveTokens tokens) {
    this.reservations = reservations;
    this.tokens = tokens;
  }

  /**
   * Answers a request.
   *
   * @param urls URLs at which the clients reach this bus
   */
  BalanceMessages.Granted reserve(
      String from,
      BalanceMessages.Reserve request,
      boolean open,
      double load,
      List<String> urls,
      long nowNanos) {
    double[] loads = request.clients().stream().mapToDouble(BalanceMessages.Wanted::load).toArray();
    int clients =
        open && !urls.isEmpty()
            ? reservations.grant(
                new Reservations.Request(request.load(), request.leaving(), loads), load, nowNanos)
            : 0;
    Duration life = Duration.ofMillis(Math.max(1, Math.min(MAX_LIFE_MILLIS, request.lifeMillis())));
    List<String> issued = new ArrayList<>(clients);
    for (BalanceMessages.Wanted client : request.clients().subList(0, clients)) {
      String token =
          tokens.issue(
              new MoveTokens.Grant(client.producer(), from, Math.max(1, client.hops())), life);
      if (token == null) {
        break;
      }
      issued.add(token);
    }
    granted += issued.size();
    refused += request.clients().size() - issued.size();
    return new BalanceMessages.Granted(urls, issued);
  }

  long granted() {
    return granted;
  }

  long refused() {
    return refused;
  }
}
