package io.eventbus.server.balance;

import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeReason;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.balance.decision.ClientLoad;
import io.eventbus.server.balance.decision.MoveHistory;
import io.eventbus.server.balance.decision.MovePlanner;
import io.eventbus.server.balance.decision.MoveWindow;
import io.eventbus.server.config.BalanceConfig;
import io.eventbus.server.session.MoveListener;
import io.eventbus.server.session.MoveTokens;
import io.eventbus.server.session.Session;
import io.eventbus.server.session.Sessions;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Execution of plans: asks the other bus, then the clients that it takes, as many at a time as can
 * be moved swiftly, and waits for the outcome. Confined to the balance thread.
 */
final class MoveExecutor {
  private static final Logger LOG = LoggerFactory.getLogger(MoveExecutor.class);
  private static final Duration RESERVE_TIMEOUT = Duration.ofSeconds(2);

  /** Time before a client that stays is asked again by a bus that ends; twice as long each time. */
  private static final long RETRY_NANOS = Duration.ofSeconds(1).toNanos();

  private static final int MAX_DOUBLINGS = 4;

  /** Maximum of deadlines that a client gets in all, if it makes progress with its move. */
  private static final int MAX_DEADLINES = 6;

  /** Time without a step after which the process was stopped. */
  private static final long STANDSTILL_NANOS = Duration.ofMillis(500).toNanos();

  /** Number of deadlines that a token lives: a client that gets it late still has its time. */
  private static final int TOKEN_DEADLINES = 2;

  private final Sessions sessions;
  private final Clock clock;
  private final LoadExchange loads;
  private final @Nullable PeerQueries calls;
  private final MovePlanner planner;
  private final MoveHistory history;
  private final BalanceConfig config;
  private final ScheduledExecutorService executor;
  private final LongSupplier nanoTime;
  private final Advisories advisories;
  private final MoveWindow window;
  private final Deque<Move> waiting = new ArrayDeque<>();
  private final Map<Long, Move> moving = new HashMap<>();
  private final Map<Long, Stay> stays = new HashMap<>();
  private int asking;
  private long steppedAt;
  private long measuredAt;
  private double goneLoadNanos;
  private long moved;
  private long stayed;
  private long expired;

  MoveExecutor(
      Sessions sessions,
      Clock clock,
      LoadExchange loads,
      @Nullable PeerQueries calls,
      MovePlanner planner,
      MoveHistory history,
      BalanceConfig config,
      ScheduledExecutorService executor,
      LongSupplier nanoTime,
      Advisories advisories) {
    this.advisories = advisories;
    this.sessions = sessions;
    this.clock = clock;
    this.loads = loads;
    this.calls = calls;
    this.planner = planner;
    this.history = history;
    this.config = config;
    this.executor = executor;
    this.nanoTime = nanoTime;
    this.window = new MoveWindow(config.movesPerSecond(), config.deadline());
  }

  /** Client that was asked and stayed, and how often. */
  private record Stay(int times, long atNanos) {
    boolean isOver(long nowNanos) {
      return nowNanos - atNanos >= RETRY_NANOS << Math.min(times - 1, MAX_DOUBLINGS);
    }
  }

  /**
   * Returns whether a bus was asked and has not answered, or clients that it takes wait to be
   * asked; an operator may ask besides.
   */
  boolean isAsking() {
    return asking > 0 || !waiting.isEmpty();
  }

  /** Returns whether there are moves that {@link #onStep} has to check soon. */
  boolean isUnderWay() {
    return isAsking() || !moving.isEmpty();
  }

  int moving() {
    return moving.size();
  }

  /**
   * Returns the average cost of clients asked to move since the last call: of those that have gone
   * meanwhile for as long as they were here.
   */
  double underWay(long nowNanos) {
    double sum = moving.values().stream().mapToDouble(move -> move.client.load()).sum();
    sum += goneLoadNanos / Math.max(1, nowNanos - measuredAt);
    goneLoadNanos = 0;
    measuredAt = nowNanos;
    return sum;
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

  /** Returns the next clients that have to leave a bus that ends, in the order of their arrival. */
  List<ClientLoad> leaving(double load, long nowNanos) {
    int max = Math.min(window.room(nowNanos), MovePlanner.MAX_CLIENTS);
    double share = load / Math.max(1, sessions.size());
    List<ClientLoad> next = new ArrayList<>();
    for (Session session : sessions.after(0)) {
      if (next.size() >= max) {
        break;
      }
      long number = session.identity().number();
      Stay stay = stays.get(number);
      if (moving.containsKey(number) || (stay != null && !stay.isOver(nowNanos))) {
        continue;
      }
      ClientLoad client = client(session, share, true, nowNanos);
      if (client.movable()) {
        next.add(client);
      }
    }
    return next;
  }

  ClientLoad client(Session session, double load, boolean leaving, long nowNanos) {
    long age = Duration.between(session.identity().since(), clock.instant()).toNanos();
    long arrived = nowNanos - age;
    MoveTokens.Grant arrival = session.moveGrant();
    int hops = MoveHistory.hops(arrival == null ? 0 : arrival.hops(), arrived, nowNanos);
    return new ClientLoad(
        session.identity().number(),
        session.producer(),
        load,
        Set.of(),
        hops,
        history.isMovable(session.producer(), hops, arrived, leaving, nowNanos));
  }

  /** Asks the other bus, and then the clients. */
  CompletableFuture<Integer> carryOut(MovePlanner.Plan plan, ChangeReason reason, double load) {
    InetSocketAddress address = loads.address(plan.target().bus());
    PeerQueries node = calls;
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
            (int) Math.min(Integer.MAX_VALUE, TOKEN_DEADLINES * config.deadline().toMillis()),
            wanted);
    byte[] encoded = request.encode();
    asking++;
    return node.ask(address, BalanceMessages.RESERVE, encoded, RESERVE_TIMEOUT)
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
      Move move =
          new Move(
              plan.clients().get(i),
              plan.target().bus(),
              reason,
              granted.urls(),
              granted.tokens().get(i),
              now);
      if (reason == ChangeReason.OVERLOAD) {
        waiting.add(move);
      } else {
        // There was room for it, or an operator does not want to wait.
        move.ask(now);
      }
    }
    askMore(now);
    return count;
  }

  /** Asks the clients for which there is room now. */
  private void askMore(long nowNanos) {
    while (!waiting.isEmpty() && window.room(nowNanos) > 0) {
      waiting.remove().ask(nowNanos);
    }
  }

  /** Checks for clients whose time is over; several times a second during moves. */
  void onStep(long nowNanos) {
    long stood = steppedAt == 0 ? 0 : nowNanos - steppedAt;
    steppedAt = nowNanos;
    for (Move move : List.copyOf(moving.values())) {
      if (stood > STANDSTILL_NANOS) {
        // Answers that clients have sent meanwhile could not be received.
        move.heardAt += stood;
      }
      move.check(nowNanos);
    }
    while (!waiting.isEmpty() && waiting.peek().isTooLate(nowNanos)) {
      planner.stayed(waiting.remove().client.load(), nowNanos);
    }
    askMore(nowNanos);
    stays.keySet().removeIf(connection -> sessions.find(connection) == null);
  }

  /** Report to the window about a client. */
  private interface Answer {
    void of(long connection, long askedNanos, long readNanos, long nowNanos);
  }

  /** Move of one client. */
  private final class Move implements MoveListener {
    private final ClientLoad client;
    private final String to;
    private final ChangeReason reason;
    private final List<String> urls;
    private final String token;
    private final long grantedAt;
    private long askedAt;
    private long heardAt;
    private long readAt;
    private boolean heard;
    private boolean late;
    private boolean trailing;

    Move(
        ClientLoad client,
        String to,
        ChangeReason reason,
        List<String> urls,
        String token,
        long nowNanos) {
      this.client = client;
      this.to = to;
      this.reason = reason;
      this.urls = urls;
      this.token = token;
      this.grantedAt = nowNanos;
    }

    boolean isTooLate(long nowNanos) {
      return nowNanos - grantedAt >= config.deadline().toNanos();
    }

    void ask(long nowNanos) {
      Session session = sessions.find(client.connection());
      boolean first = moving.isEmpty();
      if (session == null || moving.putIfAbsent(client.connection(), this) != null) {
        planner.stayed(client.load(), nowNanos);
        return;
      }
      if (first) {
        // No steps were needed before.
        steppedAt = nowNanos;
      }
      askedAt = nowNanos;
      heardAt = nowNanos;
      window.begun(client.connection(), nowNanos);
      history.asked(client.producer(), nowNanos);
      advisories.tell(new Advisory.ChangeBegun(client.connection(), to, reason.name()));
      session.askToMove(
          new ChangeBus(
              urls, reason, config.deadline().toMillis(), token, history.left(client.hops() + 1)),
          this);
    }

    /** Checks again and again, for a client that still read what was queued for it. */
    void check(long nowNanos) {
      Session session = sessions.find(client.connection());
      // A client that has not read the request has had no time yet.
      long time = config.deadline().toNanos() * (heard ? 1 : MAX_DEADLINES);
      if (session != null && nowNanos - heardAt >= time) {
        late = true;
        heardAt = nowNanos;
        session.endMove(token, urls.get(0));
      }
    }

    @Override
    public void progresses() {
      executor.execute(
          () -> {
            long now = nanoTime.getAsLong();
            if (!heard) {
              readAt = now;
            }
            if (!late && now - askedAt < MAX_DEADLINES * config.deadline().toNanos()) {
              heardAt = now;
              heard = true;
            }
          });
    }

    @Override
    public void trails() {
      executor.execute(
          () -> {
            // Its calls may take as long as they need: others need not wait for them.
            trailing = moving.get(client.connection()) == this;
            if (trailing) {
              long now = nanoTime.getAsLong();
              window.ended(client.connection(), askedAt, heard ? readAt : askedAt, now);
              askMore(now);
            }
          });
    }

    @Override
    public void left() {
      executor.execute(
          () -> {
            long now = nanoTime.getAsLong();
            late &= !trailing;
            end(
                now,
                window::ended,
                late ? Advisory.ChangeOutcome.EXPIRED : Advisory.ChangeOutcome.MOVED);
            goneLoadNanos += client.load() * (now - measuredAt);
            if (late) {
              expired++;
            } else {
              moved++;
            }
          });
    }

    @Override
    public void declined(String why) {
      executor.execute(
          () -> {
            long now = nanoTime.getAsLong();
            stayed++;
            stays.merge(
                client.connection(),
                new Stay(1, now),
                (before, again) -> new Stay(before.times + 1, now));
            planner.stayed(client.load(), now);
            LOG.debug("connection {} stays: {}", client.connection(), why);
            end(now, window::stayed, Advisory.ChangeOutcome.STAYED);
          });
    }

    private void end(long nowNanos, Answer answer, Advisory.ChangeOutcome outcome) {
      // Unless another move has asked the same client since.
      if (moving.remove(client.connection(), this)) {
        advisories.tell(new Advisory.ChangeFinished(client.connection(), to, outcome));
        if (!trailing) {
          answer.of(client.connection(), askedAt, heard ? readAt : askedAt, nowNanos);
        }
        askMore(nowNanos);
      }
    }
  }
}
