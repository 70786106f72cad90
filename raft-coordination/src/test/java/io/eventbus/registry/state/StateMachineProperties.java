package io.eventbus.registry.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.CommandResult.Refused;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.Revocation;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.statistics.Statistics;

/**
 * Random commands against {@link PlainModel}, in a registry small enough for every bound to be met.
 */
class StateMachineProperties {
  private static final RegistryLimits LIMITS = new RegistryLimits(3, 3, 6);
  private static final int FIRST_NUMBER = 7;

  /**
   * Next step. Epochs and revisions come from the model when the step is taken, off by {@code
   * slip}, which is mostly 0; so most commands succeed and some do not.
   *
   * @param repeat how many commands ago the one to repeat was; 0 for a new command
   */
  record Step(int kind, int which, int slip, int millis, int value, int repeat, int lag) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Integer> mostlyZero =
        Arbitraries.frequency(Tuple.of(6, 0), Tuple.of(1, 1), Tuple.of(1, -1));
    Arbitrary<Integer> repeat =
        Arbitraries.frequencyOf(
            Tuple.of(4, Arbitraries.just(0)), Tuple.of(1, Arbitraries.integers().between(1, 20)));
    Arbitrary<Step> step =
        Combinators.combine(
                Arbitraries.integers().between(0, 11),
                Arbitraries.integers().between(0, 3),
                mostlyZero,
                Arbitraries.integers().between(-50, 150),
                Arbitraries.integers().between(0, 2),
                repeat,
                Arbitraries.integers().between(0, 3))
            .as(Step::new);
    return step.list().ofMinSize(1).ofMaxSize(150);
  }

  /** Checks that each kind and each reason of a result is met, or the property says little. */
  @Property(edgeCases = EdgeCasesMode.NONE)
  void doesWhatThePlainModelDoes(@ForAll("steps") List<Step> steps) {
    Run run = new Run();
    steps.forEach(run::take);
    run.results.stream().map(Run::kind).distinct().forEach(Statistics::collect);
    Statistics.coverage(
        coverage -> {
          for (RegistryRefusalReason reason : RegistryRefusalReason.values()) {
            // Covered by StateMachineTest: these need other first states than the ones here; and
            // by OlderBusesTest.
            if (reason != RegistryRefusalReason.NO_NUMBER_LEFT
                && reason != RegistryRefusalReason.TOO_MANY_REVOCATIONS
                && reason != RegistryRefusalReason.BUSES_TOO_OLD
                && reason != RegistryRefusalReason.ID_FROM_THE_FUTURE) {
              coverage.check(reason.name()).count(count -> count > 0);
            }
          }
          for (Class<?> kind : CommandResult.class.getPermittedSubclasses()) {
            if (kind != Refused.class) {
              coverage.check(kind.getSimpleName()).count(count -> count > 0);
            }
          }
        });
  }

  @Property(edgeCases = EdgeCasesMode.NONE)
  void sameCommandsGiveEqualStates(@ForAll("steps") List<Step> steps) {
    Run run = new Run();
    steps.forEach(run::take);
    RegistryState again = RegistryState.empty(LIMITS, FIRST_NUMBER);
    List<CommandResult> results = new ArrayList<>();
    for (TimedCommand command : run.log) {
      Applied applied = StateMachine.apply(again, command);
      again = applied.state();
      results.add(applied.result());
    }
    assertThat(again).isEqualTo(run.state).hasSameHashCodeAs(run.state);
    assertThat(results).isEqualTo(run.results);

    TimedCommand more =
        Samples.at(0, again.snapshot().version(), 1L << 40, new BusCommand.ExpireLeases());
    assertThat(StateMachine.apply(again, more).state()).isNotEqualTo(run.state);
  }

  /** Sequence that is checked at every step. */
  private static final class Run {
    final PlainModel model = new PlainModel(LIMITS, FIRST_NUMBER);
    final List<TimedCommand> log = new ArrayList<>();
    final List<CommandResult> results = new ArrayList<>();
    final Set<Integer> numbers = new HashSet<>();
    final Map<BusId, Long> epochs = new HashMap<>();
    RegistryState state = RegistryState.empty(LIMITS, FIRST_NUMBER);

    void take(Step step) {
      boolean repeats = step.repeat > 0 && step.repeat <= log.size();
      TimedCommand command = repeats ? log.get(log.size() - step.repeat) : fresh(step);
      RegistryState before = state;
      Applied applied = StateMachine.apply(before, command);
      state = applied.state();
      log.add(command);
      results.add(applied.result());

      CommandResult first = model.results.get(command.id());
      if (first != null) {
        checkRepeated(before, applied, command.id(), first);
      } else if (applied.result() instanceof Refused refused
          && refused.reason() == RegistryRefusalReason.ID_FORGOTTEN) {
        // A new command with a basis that is too old: allowed, if it is really that old.
        assertThat(command.id().basis())
            .isLessThanOrEqualTo(model.version - LIMITS.rememberedCommands());
        assertThat(state).isSameAs(before);
      } else {
        assertThat(withoutMessage(applied.result())).isEqualTo(model.apply(command));
      }
      checkState();
      checkChanges(before.snapshot(), applied.changes());
    }

    private void checkRepeated(
        RegistryState before, Applied applied, CommandId id, CommandResult first) {
      assertThat(state).isSameAs(before);
      assertThat(applied.changes()).isEmpty();
      boolean mustBeRemembered = first.version() > model.version - LIMITS.rememberedCommands();
      if (mustBeRemembered
          || !(applied.result() instanceof Refused refused)
          || refused.reason() != RegistryRefusalReason.ID_FORGOTTEN) {
        assertThat(withoutMessage(applied.result())).isEqualTo(first);
      } else {
        assertThat(id.basis()).isLessThan(first.version());
      }
    }

    private void checkState() {
      RegistrySnapshot snapshot = state.snapshot();
      assertThat(snapshot.version()).isEqualTo(model.version);
      assertThat(snapshot.timeMillis()).isEqualTo(model.time);
      assertThat(snapshot.buses()).containsExactlyElementsOf(model.buses.values());
      assertThat(snapshot.topics()).containsExactlyElementsOf(model.topics.values());
      assertThat(snapshot.revocations()).containsExactlyElementsOf(model.revocations.values());
      for (Revocation revocation : model.revocations.values()) {
        assertThat(snapshot.revocation(revocation.who())).isEqualTo(revocation);
      }
      assertThat(snapshot.shards()).containsExactlyElementsOf(model.shards.values());
      for (ShardInfo shard : model.shards.values()) {
        assertThat(snapshot.shard(shard.number())).isEqualTo(shard);
      }
      assertThat(state.view().busesByNumber().size()).isEqualTo(model.buses.size());
      for (BusInfo bus : model.buses.values()) {
        assertThat(snapshot.bus(bus.id())).isEqualTo(bus);
        assertThat(snapshot.bus(bus.number())).isEqualTo(bus);
      }
      assertThat(state.rememberedCommands()).isLessThan(2 * LIMITS.rememberedCommands());
    }

    /** Checks that changes are the difference, no more and no less, and legal. */
    private void checkChanges(RegistrySnapshot before, List<RegistryChange> changes) {
      TreeMap<BusId, BusInfo> buses = new TreeMap<>();
      before.buses().forEach(bus -> buses.put(bus.id(), bus));
      TreeMap<String, TopicConfig> topics = new TreeMap<>();
      before.topics().forEach(topic -> topics.put(topic.name(), topic));
      TreeMap<AccountSubject, Revocation> revocations = new TreeMap<>();
      before.revocations().forEach(each -> revocations.put(each.who(), each));
      TreeMap<Integer, ShardInfo> shards = new TreeMap<>();
      before.shards().forEach(shard -> shards.put(shard.number(), shard));
      for (RegistryChange change : changes) {
        if (change instanceof RegistryChange.BusRegistered c) {
          assertThat(buses.put(c.bus().id(), c.bus())).isEqualTo(c.previous());
          assertThat(numbers.add(c.bus().number())).as("number is new").isTrue();
          assertThat(c.bus().state()).isEqualTo(BusState.JOINING);
          Long last = epochs.put(c.bus().id(), c.bus().epoch());
          assertThat(last == null || last < c.bus().epoch()).as("epoch is later").isTrue();
        } else if (change instanceof RegistryChange.BusStateChanged c) {
          assertThat(c.from().canBecome(c.bus().state())).isTrue();
          assertThat(buses.put(c.bus().id(), c.bus())).isEqualTo(c.bus().withState(c.from()));
        } else if (change instanceof RegistryChange.BusRemoved c) {
          assertThat(buses.remove(c.bus().id())).isEqualTo(c.bus());
          assertThat(c.bus().state()).isEqualTo(BusState.DOWN);
        } else if (change instanceof RegistryChange.TopicCreated c) {
          assertThat(topics.put(c.topic().name(), c.topic())).isNull();
        } else if (change instanceof RegistryChange.TopicChanged c) {
          assertThat(topics.put(c.topic().name(), c.topic())).isEqualTo(c.previous());
        } else if (change instanceof RegistryChange.TopicDeleted c) {
          assertThat(topics.remove(c.topic().name())).isEqualTo(c.topic());
        } else if (change instanceof RegistryChange.SubjectRevoked c) {
          assertThat(revocations.put(c.revocation().who(), c.revocation()))
              .isNotEqualTo(c.revocation());
        } else if (change instanceof RegistryChange.RevocationEnded c) {
          assertThat(revocations.remove(c.revocation().who())).isEqualTo(c.revocation());
        } else if (change instanceof RegistryChange.ShardPlaced c) {
          assertThat(shards.put(c.shard().number(), c.shard())).isEqualTo(c.previous());
          assertThat(c.shard().version()).isEqualTo(model.version);
        }
        assertThat(change.describe()).isNotBlank();
      }
      assertThat(shards.values()).containsExactlyElementsOf(state.snapshot().shards());
      assertThat(revocations.values()).containsExactlyElementsOf(state.snapshot().revocations());
      assertThat(topics.values()).containsExactlyElementsOf(state.snapshot().topics());
      assertThat(buses.keySet()).isEqualTo(model.buses.keySet());
      for (BusInfo bus : state.snapshot().buses()) {
        BusInfo told = Objects.requireNonNull(buses.get(bus.id()));
        assertThat(told.withLease(bus.lease())).isEqualTo(bus);
        assertThat(bus.lease().expiresAtMillis())
            .isGreaterThanOrEqualTo(told.lease().expiresAtMillis());
      }
    }

    private TimedCommand fresh(Step step) {
      long basis = Math.max(0, model.version - (long) step.lag * step.lag * step.lag);
      long time = Math.max(0, model.time + step.millis);
      return Samples.at(time, basis, log.size() + 1L, command(step));
    }

    private RegistryCommand command(Step step) {
      String name = "n" + step.which;
      BusId id = new BusId(name);
      BusInfo bus = model.buses.get(id);
      long epoch = Math.max(1, (bus == null ? 1 : bus.epoch()) + step.slip);
      TopicConfig topic = model.topics.get(name);
      long revision = Math.max(1, (topic == null ? 1 : topic.revision()) + step.slip);
      long lease = 100L + 100L * step.value;
      return switch (step.kind) {
        case 0 -> new BusCommand.Register(bus(step), 0, lease);
        case 1 -> new BusCommand.Register(bus(step), epoch, lease);
        case 2 -> new BusCommand.ChangeState(id, epoch, BusState.UP);
        case 3 -> new BusCommand.ChangeState(id, epoch, BusState.DRAINING);
        case 4 -> new BusCommand.ChangeState(id, epoch, BusState.DOWN);
        case 5 -> new BusCommand.RenewLease(id, epoch, lease);
        case 6 ->
            step.value == 0 ? new BusCommand.ExpireLeases() : new BusCommand.Remove(id, epoch);
        case 7 -> new TopicCommand.Create(Samples.topic(name, "v" + step.value));
        case 8 -> new TopicCommand.Change(Samples.topic(name, "v" + step.value), revision);
        case 9 -> step.value == 0 ? place(step) : new TopicCommand.Delete(name, revision);
        case 10 ->
            new RevocationCommand.Revoke(
                who(step), Math.max(0, model.time + step.millis), 50L + 100L * step.value);
        default ->
            step.value == 0
                ? new RevocationCommand.Expire()
                : new RevocationCommand.Lift(who(step));
      };
    }

    private static BusDescription bus(Step step) {
      return Samples.bus("n" + step.which, "default", step.value);
    }

    /** Places a shard on some of the buses, by the bits of a number that is random enough. */
    private ShardCommand place(Step step) {
      int number = 1 + step.lag % 2;
      ShardInfo shard = model.shards.get(number);
      long version = Math.max(0, (shard == null ? 0 : shard.version()) + step.slip);
      List<ShardReplica> replicas = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        BusId id = new BusId("n" + i);
        BusInfo bus = model.buses.get(id);
        int storage = bus == null ? 0 : bus.description().storage();
        boolean wanted = (step.millis >> i & 1) != 0 && (storage > 0 || step.which == 0);
        if (wanted || (i == 3 && replicas.isEmpty())) {
          replicas.add(
              new ShardReplica(id, step.which == 1 ? 1 : Math.max(1, storage), replicas.isEmpty()));
        }
      }
      return new ShardCommand.Place(number, version, replicas);
    }

    private static AccountSubject who(Step step) {
      return new AccountSubject(step.which < 2 ? "" : "acme", "u" + step.which % 2);
    }

    static String kind(CommandResult result) {
      return result instanceof Refused refused
          ? refused.reason().name()
          : result.getClass().getSimpleName();
    }

    private static CommandResult withoutMessage(CommandResult result) {
      return result instanceof Refused r ? new Refused(r.version(), r.reason(), "") : result;
    }
  }
}
