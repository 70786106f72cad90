package io.eventbus.server.replica;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.ratis.ShardMember;
import io.eventbus.journal.ratis.ShardStatus;
import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardReplica;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import io.eventbus.server.replica.PlacementMessages.Answer;
import io.eventbus.server.replica.PlacementMessages.Operation;
import io.eventbus.server.replica.PlacementMessages.Outcome;
import io.eventbus.server.replica.PlacementMessages.Request;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class PlacementDutyTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  private final LocalRegistry registry =
      new LocalRegistry(LocalRegistryOptions.DEFAULT, Clock.systemUTC());
  private final ExecutorService executor = Executors.newSingleThreadExecutor();
  private final AtomicLong nanos = new AtomicLong();
  private final Group group = new Group();
  private final PlacementDuty duty =
      new PlacementDuty("a~1", 1, registry, group, Duration.ofMinutes(10), executor, nanos::get);

  /** Group whose members change at once; the executor's thread and that of the test use it. */
  private static final class Group implements PlacementDuty.Shard {
    private List<ShardMember> members = List.of();
    private final Set<String> behind = new HashSet<>();
    private final List<String> changes = new ArrayList<>();
    private String leader = "a~1";
    private long term = 1;
    private boolean fails;

    @Override
    public synchronized @Nullable ShardStatus status() {
      return new ShardStatus(
          leader,
          term,
          5_000,
          5_000,
          true,
          false,
          false,
          null,
          members.stream()
              .map(
                  member ->
                      new ShardStatus.Member(
                          member.id(),
                          member.voter(),
                          behind.contains(member.id()) ? 1_001 : 0,
                          false))
              .toList());
    }

    @Override
    public synchronized CompletableFuture<Void> changeMembers(List<ShardMember> wanted) {
      if (fails) {
        changes.add("failed");
        return CompletableFuture.failedFuture(new JournalsUnavailableException("a member is away"));
      }
      members = wanted.stream().sorted((one, other) -> one.id().compareTo(other.id())).toList();
      changes.add(shown());
      return CompletableFuture.completedFuture(null);
    }

    synchronized String shown() {
      return members.stream()
          .map(member -> member.id() + (member.voter() ? "*" : ""))
          .collect(Collectors.joining(" "));
    }

    synchronized void set(String text) {
      members =
          Stream.of(text.split(" ", -1))
              .map(
                  each -> new ShardMember(each.replace("*", ""), "127.0.0.1:7", each.endsWith("*")))
              .toList();
    }

    synchronized void lags(String member, boolean lags) {
      if (lags) {
        behind.add(member);
      } else {
        behind.remove(member);
      }
    }

    synchronized void leads(String member) {
      leader = member;
      term++;
    }

    synchronized void fails(boolean now) {
      fails = now;
    }

    synchronized List<String> changes() {
      return List.copyOf(changes);
    }
  }

  @BeforeEach
  void start() throws Exception {
    get(registry.start());
  }

  @AfterEach
  void close() {
    registry.close();
    executor.shutdownNow();
  }

  private static <T> T get(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private void submit(RegistryCommand command) throws Exception {
    assertThat(get(registry.submit(command, DEADLINE)))
        .isNotInstanceOf(CommandResult.Refused.class);
  }

  private void up(String bus, int storage) throws Exception {
    submit(
        new BusCommand.Register(
            new BusDescription(
                new BusId(bus),
                new BusAddresses(
                    List.of("ws://127.0.0.1:8080/bus"),
                    new Endpoint("127.0.0.1", 9_000 + bus.charAt(0)),
                    null,
                    null),
                "zone",
                "1.0",
                BusDescription.STORAGE_PROTOCOL,
                storage),
            epoch(bus),
            60_000));
    change(bus, BusState.UP);
  }

  private long epoch(String bus) {
    BusInfo info = registry.snapshot().bus(new BusId(bus));
    return info == null ? 0 : info.epoch();
  }

  private void change(String bus, BusState state) throws Exception {
    submit(new BusCommand.ChangeState(new BusId(bus), epoch(bus), state));
  }

  private void place(String... replicas) throws Exception {
    List<ShardReplica> all = new ArrayList<>();
    for (String each : replicas) {
      all.add(new ShardReplica(new BusId(each.substring(0, 1)), 1, each.endsWith("*")));
    }
    submit(new ShardCommand.Place(1, 0, all));
  }

  private String placed() {
    return Objects.requireNonNull(registry.snapshot().shard(1)).replicas().stream()
        .map(each -> each.bus() + "~" + each.generation() + (each.voter() ? "*" : ""))
        .collect(Collectors.joining(" "));
  }

  /** Looks again and again until something is so. */
  private void until(BooleanSupplier condition, String what) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("%s: %s, %s", what, placed(), group.shown()).isLessThan(end);
      look();
    }
  }

  private void look() throws Exception {
    executor.submit(duty::look).get(60, TimeUnit.SECONDS);
  }

  /** Lets everything end that a look has begun; then another one changes nothing. */
  private void settle() throws Exception {
    for (int i = 0; i < 5; i++) {
      look();
      var unused = get(registry.linearizableRead(DEADLINE));
      executor.submit(() -> {}).get(60, TimeUnit.SECONDS);
    }
  }

  private Answer ask(String from, Request request) throws Exception {
    return get(
        CompletableFuture.completedFuture(request)
            .thenComposeAsync(asked -> duty.answer(from, asked), executor));
  }

  @Test
  void oneVoteBecomesThreeOneAfterTheOther() throws Exception {
    up("a", 1);
    place("a*");
    group.set("a~1*");
    up("b", 1);
    up("c", 1);
    group.lags("c~1", true);
    until(() -> group.shown().equals("a~1* b~1 c~1"), "all follow");
    settle();
    assertThat(placed()).isEqualTo("a~1* b~1 c~1");
    group.lags("c~1", false);
    until(() -> group.shown().equals("a~1* b~1* c~1*"), "three vote");
    assertThat(placed()).isEqualTo("a~1* b~1* c~1*");
    List<String> changes = group.changes();
    assertThat(changes.get(changes.size() - 2)).isIn("a~1* b~1* c~1", "a~1* b~1 c~1*");
  }

  @Test
  void aReplicaThatAsksFollowsWhileItAsks() throws Exception {
    up("a", 1);
    place("a*");
    group.set("a~1*");
    Request follow = new Request(Operation.FOLLOW, "d", 7, "127.0.0.1:4711");
    assertThat(ask("d", follow).outcome()).isEqualTo(Outcome.WAITING);
    until(() -> group.shown().equals("a~1* d~7"), "it follows");
    assertThat(ask("d", follow).outcome()).isEqualTo(Outcome.DONE);
    assertThat(ask("x", follow).outcome()).isEqualTo(Outcome.REFUSED);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(11));
    until(() -> group.shown().equals("a~1*"), "it follows no more");
    assertThat(placed()).isEqualTo("a~1*");
  }

  @Test
  void aNewLeaderKeepsThoseThatFollowUntilTheyHadTimeToAsk() throws Exception {
    up("a", 1);
    place("a*");
    group.set("a~1* d~7");
    settle();
    assertThat(group.changes()).isEmpty();
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(11));
    until(() -> group.shown().equals("a~1*"), "it follows no more");
  }

  @Test
  void aBusThatLeadsNotDoesNothing() throws Exception {
    up("a", 1);
    up("b", 1);
    place("a*");
    group.set("a~1*");
    group.leads("b~1");
    settle();
    assertThat(placed()).isEqualTo("a~1*");
    assertThat(group.changes()).isEmpty();
    assertThat(ask("b", Request.about(Operation.MOVE_VOTE, "a")).outcome())
        .isEqualTo(Outcome.NOT_LEADING);
  }

  @Test
  void aBusWithOtherFilesThatAsksLosesItsVoteAtOnceAndGetsItAgainWhenItIsUp() throws Exception {
    for (String bus : List.of("a", "b", "c")) {
      up(bus, 1);
    }
    place("a*", "b*", "c*");
    group.set("a~1* b~1* c~1*");
    change("c", BusState.DOWN);
    settle();
    assertThat(ask("c", new Request(Operation.FOLLOW, "c", 2, "127.0.0.1:4711")).outcome())
        .isEqualTo(Outcome.WAITING);
    until(() -> group.shown().equals("a~1* b~1* c~1* c~2"), "it follows");
    settle();
    assertThat(placed()).isEqualTo("a~1* b~1* c~1*");
    up("d", 1);
    until(() -> placed().equals("a~1* b~1* c~1 d~1*"), "the vote has moved");
    up("c", 2);
    until(() -> group.shown().equals("a~1* b~1* c~2 d~1*"), "it follows with its files");
  }

  @Test
  void itsOwnNewFilesGetTheVoteWhereThereIsNoOtherBus() throws Exception {
    for (String bus : List.of("a", "b", "c")) {
      up(bus, 1);
    }
    place("a*", "b*", "c*");
    group.set("a~1* b~1* c~1*");
    change("c", BusState.DOWN);
    group.lags("c~2", true);
    up("c", 2);
    until(() -> group.shown().equals("a~1* b~1* c~1* c~2"), "it follows");
    settle();
    assertThat(placed()).isEqualTo("a~1* b~1* c~1*");
    group.lags("c~2", false);
    until(() -> group.shown().equals("a~1* b~1* c~2*"), "it votes");
  }

  @Test
  void aChangeThatFailsIsTriedAgainAfterAPause() throws Exception {
    up("a", 1);
    up("b", 1);
    place("a*");
    group.set("a~1*");
    group.fails(true);
    until(() -> group.changes().contains("failed"), "a change fails");
    group.fails(false);
    settle();
    assertThat(group.changes()).containsOnlyOnce("failed").hasSize(1);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(6));
    until(() -> group.shown().equals("a~1* b~1"), "it follows");
  }

  @Test
  void aBusLeavesForGoodStepByStep() throws Exception {
    for (String bus : List.of("a", "b", "c", "d")) {
      up(bus, 1);
    }
    place("a*", "b*", "c*", "d");
    group.set("a~1* b~1* c~1* d~1");
    assertThat(ask("a", Request.about(Operation.REMOVE, "d")))
        .isEqualTo(
            new Answer(
                Outcome.WAITING,
                "bus d is UP (expected: that it drains, so that no client needs its replica)"));
    assertThat(untilDone(Operation.LEAVE, "c").outcome()).isEqualTo(Outcome.DONE);
    assertThat(placed()).isEqualTo("a~1* b~1* c~1 d~1*");
    assertThat(group.shown()).isEqualTo("a~1* b~1* c~1 d~1*");
    change("c", BusState.DRAINING);
    assertThat(untilDone(Operation.REMOVE, "c").outcome()).isEqualTo(Outcome.DONE);
    assertThat(placed()).isEqualTo("a~1* b~1* d~1*");
    until(() -> group.shown().equals("a~1* b~1* d~1*"), "it follows no more");
    Answer refused = untilDone(Operation.LEAVE, "b");
    assertThat(refused.outcome()).isEqualTo(Outcome.REFUSED);
    assertThat(refused.detail()).contains("have 2 replicas");
  }

  private Answer untilDone(Operation operation, String bus) throws Exception {
    Answer answer = ask("a", Request.about(operation, bus));
    for (int i = 0; i < 1_000 && answer.outcome() == Outcome.WAITING; i++) {
      settle();
      answer = ask("a", Request.about(operation, bus));
    }
    return answer;
  }

  @Test
  void aMajorityThatWouldBeLostIsTold() throws Exception {
    for (String bus : List.of("a", "b", "c", "d")) {
      up(bus, 1);
    }
    place("a*", "b*", "c*", "d");
    assertThat(ShardViews.warning(registry.snapshot(), 1, "a")).isNull();
    change("b", BusState.DOWN);
    assertThat(ShardViews.warning(registry.snapshot(), 1, "d")).isNull();
    assertThat(ShardViews.warning(registry.snapshot(), 1, "a"))
        .isEqualTo(
            "if bus a stops now, durable topics wait: 1 of 3 buses with a vote on the journals are"
                + " there besides it (expected: 2)");
  }
}
