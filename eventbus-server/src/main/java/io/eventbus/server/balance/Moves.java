package io.eventbus.server.balance;

import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeReason;
import io.eventbus.server.config.BalanceConfig;
import io.eventbus.server.session.ChangeListener;
import io.eventbus.server.session.ChangeTokens;
import io.eventbus.server.session.Session;
import io.eventbus.server.session.Sessions;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out what was planned: asks the other bus, then the clients that it takes, and waits for
 * what becomes of them. Confined to the balance thread.
 */
final class Moves {
  private static final Logger LOG = LoggerFactory.getLogger(Moves.class);
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  /** When a client that stays is asked again by a bus that ends. */
  private static final long RETRY_NANOS = Duration.ofSeconds(2).toNanos();

  private final Sessions sessions;
  private final Clock clock;
  private final Peers peers;
  private final @Nullable Calls calls;
  private final MovePlanner planner;
  private final MoveHistory history;
  private final BalanceConfig config;
  private final ScheduledExecutorService executor;
  private final LongSupplier nanoTime;
  private final Set<Long> moving = new HashSet<>();
  private final Map<Long, Long> stayedAt = new HashMap<>();
  private int asking;
  private long moved;
  private long stayed;
  private long expired;

  Moves(
      Sessions sessions,
      Clock clock,
      Peers peers,
      @Nullable Calls calls,
      MovePlanner planner,
      MoveHistory history,
      BalanceConfig config,
      ScheduledExecutorService executor,
      LongSupplier nanoTime) {
    this.sessions = sessions;
    this.clock = clock;
    this.peers = peers;
    this.calls = calls;
    this.planner = planner;
    this.history = history;
    this.config = config;
    this.executor = executor;
    this.nanoTime = nanoTime;
  }

  /** Says whether a bus was asked and has not answered; an operator may ask besides. */
  boolean isAsking() {
    return asking > 0;
  }

  int moving() {
    return moving.size();
  }

  long moved() {
    return moved;
  }

  long stayed() {
    return stayed;
  }

  long expired() {
    return expired;
  }

  /** The next clients that have to go from a bus that ends, in the order of their coming. */
  List<ClientLoad> leaving(double load, long nowNanos) {
    stayedAt.values().removeIf(at -> nowNanos - at >= RETRY_NANOS);
    double share = load / Math.max(1, sessions.size());
    List<ClientLoad> next = new ArrayList<>();
    for (Session session : sessions.after(0)) {
      long number = session.identity().number();
      if (moving.contains(number) || stayedAt.containsKey(number)) {
        continue;
      }
      ClientLoad client = client(session, share, true, nowNanos);
      if (client.movable()) {
        next.add(client);
      }
      if (next.size() == BalanceMessages.MOST_CLIENTS) {
        break;
      }
    }
    return next;
  }

  ClientLoad client(Session session, double load, boolean leaving, long nowNanos) {
    long age = Duration.between(session.identity().since(), clock.instant()).toNanos();
    long arrived = nowNanos - age;
    ChangeTokens.Grant arrival = session.arrival();
    int hops = MoveHistory.hops(arrival == null ? 0 : arrival.hops(), arrived, nowNanos);
    return new ClientLoad(
        session.identity().number(),
        session.producer(),
        load,
        Set.of(),
        hops,
        history.isMovable(session.producer(), hops, arrived, leaving, nowNanos));
  }

  /**
   * Asks the other bus, and then the clients.
   *
   * @return completes with how many clients were asked
   */
  CompletableFuture<Integer> carryOut(MovePlanner.Plan plan, ChangeReason reason, double load) {
    InetSocketAddress address = peers.address(plan.target().bus());
    Calls node = calls;
    if (address == null || node == null) {
      planner.granted(plan, 0, nanoTime.getAsLong());
      return CompletableFuture.completedFuture(0);
    }
    List<BalanceMessages.Wanted> wanted =
        plan.clients().stream()
            .map(c -> new BalanceMessages.Wanted(c.producer(), c.load(), c.hops() + 1))
            .toList();
    BalanceMessages.Reserve request =
        new BalanceMessages.Reserve(
            load,
            reason != ChangeReason.OVERLOAD,
            (int) Math.min(Integer.MAX_VALUE, config.deadline().toMillis()),
            wanted);
    asking++;
    return node.call(
            address, BalanceMessages.CHANNEL, BalanceMessages.RESERVE, request.encode(), PATIENCE)
        .thenApply(BalanceMessages.Granted::decode)
        .handleAsync((granted, error) -> onAnswer(plan, reason, granted, error), executor);
  }

  private int onAnswer(
      MovePlanner.Plan plan,
      ChangeReason reason,
      BalanceMessages.@Nullable Granted granted,
      @Nullable Throwable error) {
    asking--;
    long now = nanoTime.getAsLong();
    if (granted == null || granted.tokens().isEmpty() || granted.urls().isEmpty()) {
      planner.granted(plan, 0, now);
      LOG.debug(
          "{} takes none of {} clients: {}",
          plan.target().bus(),
          plan.clients().size(),
          error == null ? "no room" : error.toString());
      return 0;
    }
    int count = Math.min(plan.clients().size(), granted.tokens().size());
    planner.granted(plan, count, now);
    LOG.info("{} of {} clients go to {} ({})", count, sessions.size(), plan.target().bus(), reason);
    for (int i = 0; i < count; i++) {
      ask(plan.clients().get(i), reason, granted.urls(), granted.tokens().get(i), now);
    }
    return count;
  }

  private void ask(
      ClientLoad client, ChangeReason reason, List<String> urls, String token, long nowNanos) {
    Session session = sessions.find(client.connection());
    if (session == null || !moving.add(client.connection())) {
      planner.stayed(client.load(), nowNanos);
      return;
    }
    history.asked(client.producer(), nowNanos);
    Move move = new Move(client);
    move.timer =
        // Again, for a client that was still reading what was queued for it.
        executor.scheduleWithFixedDelay(
            () -> {
              move.late = true;
              session.endChange(token, urls.get(0));
            },
            config.deadline().toNanos(),
            config.deadline().toNanos(),
            TimeUnit.NANOSECONDS);
    session.askToChange(
        new ChangeBus(
            urls, reason, config.deadline().toMillis(), token, history.left(client.hops() + 1)),
        move);
  }

  /** What becomes of one client. */
  private final class Move implements ChangeListener {
    private final ClientLoad client;
    private boolean late;
    private @Nullable Future<?> timer;

    Move(ClientLoad client) {
      this.client = client;
    }

    @Override
    public void gone() {
      executor.execute(
          () -> {
            end();
            if (late) {
              expired++;
            } else {
              moved++;
            }
          });
    }

    @Override
    public void stays(String why) {
      executor.execute(
          () -> {
            end();
            stayed++;
            long now = nanoTime.getAsLong();
            stayedAt.put(client.connection(), now);
            planner.stayed(client.load(), now);
            LOG.debug("connection {} stays: {}", client.connection(), why);
          });
    }

    private void end() {
      moving.remove(client.connection());
      Future<?> waiting = timer;
      if (waiting != null) {
        waiting.cancel(false);
      }
    }
  }
}
