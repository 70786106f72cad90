package io.eventbus.registry.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.raft.GateLimits;
import io.eventbus.raft.members.RaftMembers;
import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import io.eventbus.registry.membership.VoterPolicy;
import io.eventbus.registry.ratis.forward.CommandGate;
import io.eventbus.registry.state.TimedCommand;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.protocol.RaftPeer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Expiry of leases by a leader. */
class LeaderDutiesTest {
  private static final Duration TURN = Duration.ofMillis(200);
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final Clock WALL = Clock.fixed(Instant.ofEpochMilli(1_000), ZoneOffset.UTC);

  private final AtomicLong nanos = new AtomicLong();
  private final RegistryClock clock = new RegistryClock(WALL, nanos::get);
  private final LocalRegistry registry = new LocalRegistry(LocalRegistryOptions.DEFAULT, WALL);
  private final List<RegistryCommand> proposed = new ArrayList<>();
  private final Leading raft = new Leading();
  private final LeaderDuties duties = duties(1);

  private LeaderDuties duties(int voters) {
    return new LeaderDuties(
        raft,
        new CommandGate(
            commands -> {
              commands.stream().map(TimedCommand::command).forEach(proposed::add);
              return new CompletableFuture<>();
            },
            clock::stamp,
            new GateLimits(1, 10, 1 << 20, 10, 1 << 20),
            (after, task) -> {},
            nanos::get),
        clock,
        this::snapshot,
        nanos::get,
        new VoterPolicy(voters, 60_000),
        "a");
  }

  /** Group of a bus that leads, or not. */
  private static final class Leading implements LeaderDuties.Raft {
    private @Nullable String leader = "a";
    private RaftMembers members = RaftMembers.NONE;
    private final List<VoterPolicy.Step> changes = new ArrayList<>();

    @Override
    public @Nullable String leader() {
      return leader;
    }

    @Override
    public boolean isLeaderReady() {
      return true;
    }

    @Override
    public boolean servesStrangers() {
      return false;
    }

    @Override
    public RaftMembers members() {
      return members;
    }

    @Override
    public CompletableFuture<Void> stepDown(long timeoutMillis) {
      throw new AssertionError("steps down");
    }

    @Override
    public CompletableFuture<Void> transferLeadership(String bus, long timeoutMillis) {
      throw new AssertionError("hands over");
    }

    @Override
    public CompletableFuture<Void> change(RaftMembers members, VoterPolicy.Step step) {
      changes.add(step);
      return new CompletableFuture<>();
    }
  }

  LeaderDutiesTest() throws Exception {
    clock.restart(1_000);
    registry.start().toCompletableFuture().get(60, TimeUnit.SECONDS);
    registers("b", LEASE);
  }

  private CommandResult.BusRegistered registers(String bus, Duration lease) throws Exception {
    CommandResult registered =
        registry
            .submit(
                CommandId.random(0),
                new BusCommand.Register(
                    new BusDescription(
                        new BusId(bus),
                        new BusAddresses(List.of("ws://127.0.0.1:1/bus"), null, null, null),
                        "default",
                        "1.0",
                        1,
                        0),
                    0,
                    lease.toMillis()),
                DEADLINE)
            .toCompletableFuture()
            .get(60, TimeUnit.SECONDS);
    assertThat(registered).isInstanceOf(CommandResult.BusRegistered.class);
    return (CommandResult.BusRegistered) registered;
  }

  @AfterEach
  void close() {
    registry.close();
  }

  private RegistrySnapshot snapshot() {
    return registry.snapshot();
  }

  /** Lets the bus lead and run for that long. */
  private void runs(Duration time) {
    for (long left = time.toNanos(); left > 0; left -= TURN.toNanos()) {
      nanos.addAndGet(TURN.toNanos());
      duties.perform();
    }
  }

  @Test
  void aLeaseThatHasRunOutIsEndedByALeaderThatHasLedForThatLong() {
    runs(LEASE.minus(TURN));
    assertThat(proposed).isEmpty();
    runs(TURN.multipliedBy(2));
    assertThat(proposed).containsExactly(new BusCommand.ExpireLeases());
  }

  @Test
  void aLeaderThatStoodStillWaitsAsANewOne() {
    runs(Duration.ofSeconds(5));
    // Nobody could renew meanwhile, nor could another bus lead.
    nanos.addAndGet(Duration.ofSeconds(12).toNanos());
    duties.perform();
    runs(LEASE.minus(TURN));
    assertThat(proposed).isEmpty();
    runs(TURN.multipliedBy(2));
    assertThat(proposed).containsExactly(new BusCommand.ExpireLeases());
  }

  @Test
  void aLeaderThatIsABitLateIsNoNewOne() {
    duties.perform();
    for (int i = 0; i < 11; i++) {
      nanos.addAndGet(LeaderDuties.STANDSTILL_NANOS);
      duties.perform();
    }
    assertThat(proposed).containsExactly(new BusCommand.ExpireLeases());
  }

  @Test
  void aRevocationWhoseTimeHasComeIsForgotten() throws Exception {
    registry
        .submit(new RevocationCommand.Revoke(new AccountSubject("acme", "u1"), 0, 3_000), DEADLINE)
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
    runs(Duration.ofSeconds(3).minus(TURN));
    assertThat(proposed).isEmpty();
    runs(TURN);
    assertThat(proposed).containsExactly(new RevocationCommand.Expire());
    runs(TURN);
    assertThat(proposed).as("one at a time").hasSize(1);
  }

  @Test
  void aChangeOfTheVotersThatDoesNotEndIsTriedAgain() throws Exception {
    for (String bus : List.of("a", "c")) {
      CommandResult.BusRegistered registered = registers(bus, Duration.ofHours(1));
      registry
          .submit(
              new BusCommand.ChangeState(new BusId(bus), registered.epoch(), BusState.UP), DEADLINE)
          .toCompletableFuture()
          .get(60, TimeUnit.SECONDS);
    }
    raft.members = new RaftMembers(List.of(peer("a")), List.of(peer("c")));
    LeaderDuties more = duties(3);
    more.perform();
    assertThat(raft.changes).containsExactly(new VoterPolicy.Step(null, "c", false));
    nanos.addAndGet(LeaderDuties.CHANGE_TIMEOUT_NANOS - 1);
    more.perform();
    assertThat(raft.changes).hasSize(1);
    nanos.addAndGet(1);
    more.perform();
    assertThat(raft.changes).hasSize(2);
    more.perform();
    assertThat(raft.changes).as("one at a time").hasSize(2);
  }

  private static RaftPeer peer(String bus) {
    return RaftPeer.newBuilder().setId(bus).build();
  }

  @Test
  void aBusThatLeadsAgainWaitsAnew() {
    runs(LEASE);
    raft.leader = "b";
    runs(TURN);
    raft.leader = "a";
    proposed.clear();
    runs(LEASE.minus(TURN));
    assertThat(proposed).isEmpty();
  }
}
