package io.eventbus.registry.ratis;

import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.members.RaftMembers;
import io.eventbus.raft.repair.AbortedReconfiguration;
import io.eventbus.raft.repair.VoterChanges;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.Revocation;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.registry.membership.VoterPolicy;
import io.eventbus.registry.ratis.forward.CommandGate;
import io.eventbus.registry.ratis.forward.LeaderRetry;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Duties of a bus while it leads: takes buses DOWN whose leases have run out, removes revocations
 * whose time has come, and lets the policy choose the voters. Called several times a second on one
 * thread, and does not wait.
 *
 * <p>A new leader first waits as long as the longest lease: while there was no leader, no bus could
 * renew. The same holds for a leader that stood still, whose turns are far apart: it could not
 * accept renewals either, and does not know yet whether it still leads.
 */
final class LeaderDuties {
  private static final Logger log = LoggerFactory.getLogger(LeaderDuties.class);

  /** Timeout of a change of the voters, the three of a vote that moves included. */
  static final long CHANGE_TIMEOUT_NANOS = TimeUnit.MINUTES.toNanos(3);

  /**
   * Interval of turns from which on the bus counts as having stood still; they come each 200 ms.
   */
  static final long STANDSTILL_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Group of the registry. */
  interface Raft extends AbortedReconfiguration.Group {
    /** As {@link RatisGroup#leader}. */
    @Nullable String leader();

    /** Returns {@link RatisGroup#isLeaderReady}. */
    boolean isLeaderReady();

    /** Returns {@link RatisGroup#members}. */
    RaftMembers members();

    /** Transfers as {@link RatisGroup#transferLeadership}. */
    CompletableFuture<Void> transferLeadership(String bus, long timeoutMillis);

    /** Changes as {@link VoterChanges#apply}. */
    CompletableFuture<Void> change(RaftMembers members, VoterPolicy.Step step);

    static Raft of(RatisGroup group) {
      return new Raft() {
        @Override
        public @Nullable String leader() {
          return group.leader();
        }

        @Override
        public boolean isLeaderReady() {
          return group.isLeaderReady();
        }

        @Override
        public boolean servesStrangers() {
          return group.servesStrangers();
        }

        @Override
        public RaftMembers members() {
          return group.members();
        }

        @Override
        public CompletableFuture<Void> stepDown(long timeoutMillis) {
          return group.stepDown(timeoutMillis);
        }

        @Override
        public CompletableFuture<Void> transferLeadership(String bus, long timeoutMillis) {
          return group.transferLeadership(bus, timeoutMillis);
        }

        @Override
        public CompletableFuture<Void> change(RaftMembers members, VoterPolicy.Step step) {
          return VoterChanges.apply(group, members, step.out(), step.in());
        }
      };
    }
  }

  private final Raft raft;
  private final AbortedReconfiguration aborted;
  private final CommandGate gate;
  private final RegistryClock clock;
  private final Supplier<RegistrySnapshot> snapshot;
  private final LongSupplier nanoTime;
  private final VoterPolicy policy;
  private final String self;

  private boolean leading;
  private long leadingSinceNanos;
  private long performedNanos;
  private @Nullable CompletableFuture<?> expiring;
  private @Nullable CompletableFuture<?> expiringRevocations;
  private @Nullable CompletableFuture<?> changing;
  private long changingSinceNanos;

  LeaderDuties(
      Raft raft,
      CommandGate gate,
      RegistryClock clock,
      Supplier<RegistrySnapshot> snapshot,
      LongSupplier nanoTime,
      VoterPolicy policy,
      String self) {
    this.raft = raft;
    this.aborted = new AbortedReconfiguration(raft);
    this.gate = gate;
    this.clock = clock;
    this.snapshot = snapshot;
    this.nanoTime = nanoTime;
    this.policy = policy;
    this.self = self;
  }

  void perform() {
    if (!self.equals(raft.leader()) || !raft.isLeaderReady()) {
      leading = false;
      aborted.reset();
      return;
    }
    long nanos = nanoTime.getAsLong();
    leading &= nanos - performedNanos <= STANDSTILL_NANOS;
    performedNanos = nanos;
    if (aborted.endsLeadership()) {
      return;
    }
    if (!leading) {
      leading = true;
      leadingSinceNanos = nanos;
    }
    RegistrySnapshot now = snapshot.get();
    expireLeases(now);
    expireRevocations(now);
    chooseVoters(now);
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

  /**
   * Removes expired revocations. No leader has to wait with it: nothing makes a revocation last
   * longer meanwhile.
   */
  private void expireRevocations(RegistrySnapshot now) {
    if (isUnderWay(expiringRevocations)) {
      return;
    }
    long millis = clock.now();
    for (Revocation revocation : now.revocations()) {
      if (revocation.isExpiredAt(millis)) {
        expiringRevocations =
            gate.submit(CommandId.random(now.version()), new RevocationCommand.Expire());
        return;
      }
    }
  }

  private void chooseVoters(RegistrySnapshot now) {
    long nanos = nanoTime.getAsLong();
    if (isUnderWay(changing)) {
      if (nanos - changingSinceNanos < CHANGE_TIMEOUT_NANOS) {
        return;
      }
      log.warn("A change of the voters has not ended within 3 minutes; trying again");
    }
    RaftMembers members = raft.members();
    VoterPolicy.Step step =
        policy.next(
            new VoterPolicy.Situation(
                self, members.voterIds(), members.listenerIds(), now, clock.now()));
    if (step == null) {
      return;
    }
    log.info("The voters are {}: {}", String.join(", ", members.voterIds()), step.describe());
    CompletableFuture<Void> change =
        step.handOver() ? handOver(members, step) : raft.change(members, step);
    changingSinceNanos = nanos;
    changing =
        change.whenComplete(
            (nothing, error) -> {
              if (error != null) {
                log.info("The voters were not changed: {}", LeaderRetry.unwrap(error).toString());
              }
            });
  }

  /** Hands the leadership over to another voter that is present; the next leader does the rest. */
  private CompletableFuture<Void> handOver(RaftMembers members, VoterPolicy.Step step) {
    for (String voter : members.voterIds()) {
      BusInfo bus = snapshot.get().bus(new BusId(voter));
      if (!voter.equals(self) && bus != null && bus.state() == BusState.UP) {
        return raft.transferLeadership(voter, 3_000);
      }
    }
    if (step.in() == null) {
      return CompletableFuture.completedFuture(null);
    }
    // No other bus votes yet: the successor does first.
    return raft.change(members, new VoterPolicy.Step(null, step.in(), false));
  }

  private static boolean isUnderWay(@Nullable CompletableFuture<?> future) {
    return future != null && !future.isDone();
  }
}
