package io.eventbus.registry.ratis;

import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.membership.VoterPolicy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a bus does while it leads: takes buses DOWN whose leases have run out, and lets the policy
 * choose who votes. Called several times a second on one thread, and does not wait.
 *
 * <p>A new leader first waits as long as the longest lease: while there was no leader, nobody could
 * renew. The same holds for a leader that stood still, whose turns are far apart: it could not take
 * renewals either, and does not know yet whether it still leads.
 */
final class LeaderDuties {
  private static final Logger log = LoggerFactory.getLogger(LeaderDuties.class);

  private static final long STEP_DOWN_MILLIS = 3_000;

  /** Turns that are farther apart are those of a bus that stood still; they come each 200 ms. */
  static final long STANDSTILL_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** What the engine says and does. */
  interface Raft {
    /** As {@link Engine#leader}. */
    @Nullable String leader();

    /** As {@link Engine#isLeaderReady}. */
    boolean isLeaderReady();

    /** As {@link Engine#servesStrangers}. */
    boolean servesStrangers();

    /** As {@link Engine#members}. */
    Members members();

    /** As {@link Engine#stepDown}. */
    CompletableFuture<Void> stepDown(long timeoutMillis);

    /** As {@link Engine#transferLeadership}. */
    CompletableFuture<Void> transferLeadership(String bus, long timeoutMillis);

    /** As {@link VoterChanges#apply}. */
    CompletableFuture<Void> change(Members members, VoterPolicy.Step step);
  }

  private final Raft engine;
  private final LeaderGate gate;
  private final RegistryClock clock;
  private final Supplier<RegistrySnapshot> snapshot;
  private final LongSupplier nanoTime;
  private final VoterPolicy policy;
  private final String self;

  private boolean leading;
  private long leadingSinceNanos;
  private long performedNanos;
  private @Nullable CompletableFuture<?> expiring;
  private @Nullable CompletableFuture<?> changing;
  private @Nullable CompletableFuture<?> steppingDown;

  /** How many turns in a row there were strangers; one is seen while a change ends, too. */
  private int strange;

  LeaderDuties(
      Raft engine,
      LeaderGate gate,
      RegistryClock clock,
      Supplier<RegistrySnapshot> snapshot,
      LongSupplier nanoTime,
      VoterPolicy policy,
      String self) {
    this.engine = engine;
    this.gate = gate;
    this.clock = clock;
    this.snapshot = snapshot;
    this.nanoTime = nanoTime;
    this.policy = policy;
    this.self = self;
  }

  void perform() {
    if (!self.equals(engine.leader()) || !engine.isLeaderReady()) {
      leading = false;
      strange = 0;
      return;
    }
    long nanos = nanoTime.getAsLong();
    leading &= nanos - performedNanos <= STANDSTILL_NANOS;
    performedNanos = nanos;
    if (endsForStrangers()) {
      return;
    }
    if (!leading) {
      leading = true;
      leadingSinceNanos = nanos;
    }
    RegistrySnapshot now = snapshot.get();
    expireLeases(now);
    chooseVoters(now);
  }

  /** The engine's leader lets a bus that is no member go only by leading no more. */
  private boolean endsForStrangers() {
    if (isUnderWay(steppingDown)) {
      return true;
    }
    strange = engine.servesStrangers() ? strange + 1 : 0;
    if (strange < 2) {
      return false;
    }
    strange = 0;
    log.info("Stepping down: a change of the members was cut short, and its bus is still served");
    steppingDown =
        engine
            .stepDown(STEP_DOWN_MILLIS)
            .exceptionally(
                error -> {
                  log.info("Still leading: {}", Attempts.unwrap(error).toString());
                  return null;
                });
    return true;
  }

  private void expireLeases(RegistrySnapshot now) {
    if (isUnderWay(expiring)) {
      return;
    }
    long millis = clock.now();
    long longest = 0;
    boolean expired = false;
    for (BusInfo bus : now.buses()) {
      if (bus.state() != BusState.DOWN) {
        longest = Math.max(longest, bus.lease().durationMillis());
        expired |= bus.lease().isExpiredAt(millis);
      }
    }
    long ledMillis = (nanoTime.getAsLong() - leadingSinceNanos) / 1_000_000;
    if (expired && ledMillis >= longest) {
      expiring = gate.submit(CommandId.random(now.version()), new BusCommand.ExpireLeases());
    }
  }

  private void chooseVoters(RegistrySnapshot now) {
    if (isUnderWay(changing)) {
      return;
    }
    Members members = engine.members();
    VoterPolicy.Step step =
        policy.next(
            new VoterPolicy.Situation(
                self, members.voterIds(), members.listenerIds(), now, clock.now()));
    if (step == null) {
      return;
    }
    log.info("The voters are {}: {}", String.join(", ", members.voterIds()), step.describe());
    CompletableFuture<Void> change =
        step.handOver() ? handOver(members, step) : engine.change(members, step);
    changing =
        change.whenComplete(
            (nothing, error) -> {
              if (error != null) {
                log.info("The voters were not changed: {}", Attempts.unwrap(error).toString());
              }
            });
  }

  /** To another voter that is there; the next leader does the rest. */
  private CompletableFuture<Void> handOver(Members members, VoterPolicy.Step step) {
    for (String voter : members.voterIds()) {
      BusInfo bus = snapshot.get().bus(new BusId(voter));
      if (!voter.equals(self) && bus != null && bus.state() == BusState.UP) {
        return engine.transferLeadership(voter, 3_000);
      }
    }
    if (step.in() == null) {
      return CompletableFuture.completedFuture(null);
    }
    // Nobody else votes yet: the successor does first.
    return engine.change(members, new VoterPolicy.Step(null, step.in(), false));
  }

  private static boolean isUnderWay(@Nullable CompletableFuture<?> future) {
    return future != null && !future.isDone();
  }
}
