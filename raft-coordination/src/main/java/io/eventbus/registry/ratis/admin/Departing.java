package io.eventbus.registry.ratis.admin;

import io.eventbus.raft.RatisGroup;
import io.eventbus.registry.AdministrationRefusedException;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.Departure;
import io.eventbus.registry.DepartureReport;
import io.eventbus.registry.membership.VoterPolicy;
import io.eventbus.registry.ratis.forward.CommandService;
import io.eventbus.registry.ratis.forward.LeaderRetry;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.exceptions.LeaderNotReadyException;
import org.jspecify.annotations.Nullable;

/**
 * Handover of this bus's roles, one after the other: declares that it drains, gives the leadership
 * to a voter that answers, waits until the leader has given its vote to another bus, and, if it
 * leaves for good, asks the leader to remove it. Every few milliseconds it checks the remaining
 * roles, on the registry's timers, and waits for nothing there.
 */
final class Departing {
  private static final int CHECK_MILLIS = 10;

  /**
   * Timeout of one attempt to hand over the leadership; meanwhile the leader accepts no commands.
   */
  private static final Duration TRANSFER_TIMEOUT = Duration.ofSeconds(2);

  private final Member member;
  private final RatisGroup group;
  private final AdministrationService service;
  private final BusId bus;
  private final Departure departure;
  private final long endNanos;
  private final CompletableFuture<DepartureReport> done = new CompletableFuture<>();

  /** Voters that were asked to lead. */
  private final Set<String> tried = ConcurrentHashMap.newKeySet();

  // On the timers' thread only:
  private @Nullable CompletableFuture<?> underWay;
  private boolean draining;

  // Also on threads that bring answers:
  private volatile boolean asked;
  private volatile boolean forgotten;
  private volatile String detail = "";

  Departing(
      Member member,
      RatisGroup group,
      AdministrationService service,
      BusId bus,
      Departure departure,
      Duration deadline) {
    this.member = member;
    this.group = group;
    this.service = service;
    this.bus = bus;
    this.departure = departure;
    this.endNanos = System.nanoTime() + deadline.toNanos();
  }

  CompletableFuture<DepartureReport> start() {
    if (departure == Departure.FOR_GOOD) {
      member.stopJoining();
    }
    schedule(0);
    return done;
  }

  private void schedule(int millis) {
    try {
      Future<?> unused = member.timers().schedule(this::checkSafely, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      detail = "the registry was closed";
      finish();
    }
  }

  // The caller must hear of any error.
  @SuppressWarnings("CatchingUnchecked")
  private void checkSafely() {
    try {
      check();
    } catch (Exception e) {
      detail = String.valueOf(e.getMessage());
      finish();
    }
  }

  private void check() {
    if (left().isNegative()) {
      detail = detail.isEmpty() ? "the deadline has come" : detail;
      finish();
    } else if ((underWay != null && !underWay.isDone()) || !isDone()) {
      schedule(CHECK_MILLIS);
    } else {
      finish();
    }
  }

  private Duration left() {
    return Duration.ofNanos(endNanos - System.nanoTime());
  }

  /** Begins the next step; returns true if nothing is left. */
  private boolean isDone() {
    VoterPolicy.Situation situation = member.view().situation(group);
    if (situation == null) {
      detail = "no leader is known";
      return false;
    }
    BusInfo info = situation.snapshot().bus(bus);
    if (!draining && info != null && info.state() == BusState.UP) {
      draining = true;
      begin(drain(situation, info));
      return false;
    }
    if (situation.leader().equals(bus.value())) {
      return !handOver(situation);
    }
    boolean drains = info != null && info.state() == BusState.DRAINING;
    if (drains && member.policy().isVoteTaken(situation, bus.value())) {
      detail = "bus " + situation.leader() + " has not given the vote to another bus yet";
      return false;
    }
    if (departure == Departure.STOP && !isMember(situation)) {
      // Between its vote and its place among the listeners.
      detail = "bus " + situation.leader() + " has not taken this one in as a listener yet";
      return false;
    }
    detail = "";
    if (departure == Departure.FOR_GOOD && !asked) {
      beForgotten();
      return false;
    }
    return true;
  }

  private void begin(CompletableFuture<?> step) {
    underWay = step;
    var unused =
        step.whenComplete(
            (nothing, error) -> {
              if (error != null) {
                detail = String.valueOf(LeaderRetry.unwrap(error).getMessage());
              }
            });
  }

  private CompletableFuture<?> drain(VoterPolicy.Situation situation, BusInfo info) {
    CommandService commands = member.commands();
    CommandId id = CommandId.random(situation.snapshot().version());
    return commands == null
        ? CompletableFuture.completedFuture(null)
        : commands
            .submit(id, new BusCommand.ChangeState(bus, info.epoch(), BusState.DRAINING), left())
            .orTimeout(1, TimeUnit.SECONDS);
  }

  /** Returns whether another bus is asked to lead now, or a bus that is about to get a vote. */
  private boolean handOver(VoterPolicy.Situation situation) {
    Map<String, Long> silence = group.followerSilenceMillis();
    String next =
        situation.voters().stream()
            .filter(voter -> !voter.equals(bus.value()) && !tried.contains(voter))
            .filter(voter -> isPresent(situation, voter))
            .min(Comparator.comparing(voter -> silence.getOrDefault(voter, Long.MAX_VALUE)))
            .orElse(null);
    if (next == null) {
      detail = detail.isEmpty() ? "no other voter is there to lead" : detail;
      return member.policy().isVoteTaken(situation, bus.value());
    }
    tried.add(next);
    Duration left = left();
    Duration limit = left.compareTo(TRANSFER_TIMEOUT) < 0 ? left : TRANSFER_TIMEOUT;
    begin(
        group
            .transferLeadership(next, Math.max(1, limit.toMillis()))
            .whenComplete(
                (nothing, error) -> {
                  if (error != null
                      && LeaderRetry.unwrap(error) instanceof LeaderNotReadyException) {
                    // No voter was asked: the first entry of this leader is not committed yet.
                    tried.remove(next);
                  }
                }));
    return true;
  }

  private boolean isMember(VoterPolicy.Situation situation) {
    return situation.voters().contains(bus.value()) || situation.listeners().contains(bus.value());
  }

  private static boolean isPresent(VoterPolicy.Situation situation, String voter) {
    BusInfo info = situation.snapshot().bus(new BusId(voter));
    return info == null || info.state() == BusState.UP || info.state() == BusState.JOINING;
  }

  private void beForgotten() {
    Duration left = left();
    AdministrationRequest request =
        new AdministrationRequest(
            AdministrationRequest.Operation.LEAVE, bus, null, true, (int) left.toMillis());
    begin(
        service
            .submit(request, left)
            .handle(
                (nothing, error) -> {
                  forgotten = error == null;
                  // A refusal is final; after any other error another attempt may succeed.
                  asked =
                      forgotten
                          || LeaderRetry.unwrap(error) instanceof AdministrationRefusedException;
                  if (error != null) {
                    throw new CompletionException(LeaderRetry.unwrap(error));
                  }
                  return null;
                }));
  }

  private void finish() {
    if (forgotten) {
      done.complete(new DepartureReport(false, false, false, ""));
      return;
    }
    ClusterStatus status = member.status();
    boolean leads = status.role() == ClusterStatus.Role.LEADER;
    boolean votes = status.voters().contains(bus.value());
    String why = detail;
    if (why.isEmpty() && votes) {
      why = "no other bus is there to take the vote";
    }
    done.complete(
        new DepartureReport(
            leads,
            votes,
            votes || status.listeners().contains(bus.value()),
            departure == Departure.STOP && !votes ? "" : why));
  }
}
