package io.eventbus.registry.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.CommandResult.TopicCreated;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryClosedException;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryFailedException;
import io.eventbus.registry.RegistryLifecycle;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistryOverloadedException;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.RegistryTimeoutException;
import io.eventbus.registry.RegistryUnavailableException;
import io.eventbus.registry.RetryAdvice;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.state.RegistryLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class LocalRegistryTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofMillis(20);

  private final SettableClock clock = new SettableClock(1_000);
  private LocalRegistry registry = new LocalRegistry(LocalRegistryOptions.DEFAULT, clock);
  private final Gate gate = new Gate(1);

  @AfterEach
  void close() {
    gate.open();
    registry.close();
  }

  @Test
  void takesNoCommandsBeforeTheStart() {
    RegistryException e = failure(create("t"));
    assertThat(e).isInstanceOf(RegistryUnavailableException.class);
    assertThat(e).hasMessage("lifecycle: NEW (expected: RUNNING)");
    assertThat(e.advice()).isEqualTo(RetryAdvice.SAME_ID);
    assertThat(e.maybeApplied()).isFalse();
    assertThat(failure(registry.linearizableRead(LONG)))
        .isInstanceOf(RegistryUnavailableException.class);
    assertThat(registry.snapshot().version()).isZero();
  }

  @Test
  void startsOnce() throws Exception {
    await(registry.start());
    assertThat(registry.lifecycle()).isEqualTo(RegistryLifecycle.RUNNING);
    assertThatIllegalStateException()
        .isThrownBy(registry::start)
        .withMessage("lifecycle: RUNNING (expected: NEW)");
  }

  @Test
  void aCommandIsVisibleAndToldWhenItsStageCompletes() throws Exception {
    List<String> seen = new ArrayList<>();
    registry.addListener(
        (snapshot, changes) -> {
          assertThat(registry.snapshot()).isSameAs(snapshot);
          seen.add(snapshot.version() + " " + Thread.currentThread().getName());
          changes.forEach(change -> seen.add(change.describe()));
        });
    await(registry.start());
    TopicCreated created = await(create("t")).expect(TopicCreated.class);
    assertThat(created.version()).isEqualTo(1);
    assertThat(seen).containsExactly("0 registry", "1 registry", "topic 't': created, revision 1");
    RegistrySnapshot snapshot = await(registry.linearizableRead(LONG));
    assertThat(snapshot.topic("t")).isNotNull();
    assertThat(snapshot.timeMillis()).isEqualTo(1_000);
    assertThat(registry.localRead().snapshot()).isEqualTo(snapshot);
    assertThat(registry.localRead().age()).isZero();
  }

  @Test
  void aListenerStartsWithTheSnapshotOfTheMoment() throws Exception {
    await(registry.start());
    await(create("t"));
    BlockingQueue<List<RegistryChange>> told = new LinkedBlockingQueue<>();
    BlockingQueue<Long> versions = new LinkedBlockingQueue<>();
    ListenerRegistration registration =
        registry.addListener(
            (snapshot, changes) -> {
              told.add(changes);
              versions.add(snapshot.version());
            });
    assertThat(versions.poll(60, TimeUnit.SECONDS)).isEqualTo(1);
    assertThat(told.poll(60, TimeUnit.SECONDS)).isEmpty();
    await(create("u"));
    assertThat(versions.poll(60, TimeUnit.SECONDS)).isEqualTo(2);
    assertThat(told.poll(60, TimeUnit.SECONDS)).hasSize(1);
    registration.close();
    registration.close();
    await(create("v"));
    assertThat(versions).isEmpty();
  }

  /** Adds a listener while a command is applied, when the clock is asked: it must not see half. */
  @Test
  void aListenerThatComesWhileACommandIsAppliedStartsAfterIt() throws Exception {
    List<String> told = new ArrayList<>();
    AtomicBoolean added = new AtomicBoolean();
    clock.whenAsked(
        () -> {
          if (added.compareAndSet(false, true)) {
            registry.addListener(
                (snapshot, changes) -> told.add(snapshot.version() + ": " + changes.size()));
          }
        });
    await(registry.start());
    await(create("t"));
    await(create("u"));
    assertThat(told).containsExactly("1: 0", "2: 1");
  }

  @Test
  void aRepeatedCommandTellsNobody() throws Exception {
    await(registry.start());
    List<Long> versions = new ArrayList<>();
    CommandId id = registry.newCommandId();
    RegistryCommand command = new BusCommand.ExpireLeases();
    registry.addListener((snapshot, changes) -> versions.add(snapshot.version()));
    CommandResult first = await(registry.submit(id, command, LONG));
    assertThat(await(registry.submit(id, command, LONG))).isSameAs(first);
    await(registry.submit(command, LONG));
    assertThat(versions).endsWith(1L, 2L).doesNotHaveDuplicates();
  }

  @Test
  void aListenerThatThrowsIsCountedAndHarmsNobody() throws Exception {
    List<Long> versions = new ArrayList<>();
    registry.addListener(
        (snapshot, changes) -> {
          throw new IllegalStateException("meant");
        });
    registry.addListener((snapshot, changes) -> versions.add(snapshot.version()));
    await(registry.start());
    await(create("t"));
    assertThat(versions).containsExactly(0L, 1L);
    assertThat(registry.listenerFailures()).isEqualTo(2);
  }

  @Test
  void listenersAreBounded() {
    registry = new LocalRegistry(options(10, 4_096, 1), clock);
    RegistryListener listener = (snapshot, changes) -> {};
    ListenerRegistration first = registry.addListener(listener);
    assertThatIllegalStateException()
        .isThrownBy(() -> registry.addListener(listener))
        .withMessage("listeners: 1 (expected: < 1)");
    first.close();
    registry.addListener(listener);
  }

  @Test
  void theClockIsTheCommandsTime() throws Exception {
    await(registry.start());
    clock.set(-5);
    await(create("t"));
    assertThat(registry.snapshot().timeMillis()).isZero();
    clock.set(7_000);
    await(create("u"));
    assertThat(registry.snapshot().timeMillis()).isEqualTo(7_000);
  }

  @Test
  void aRevocationWhoseTimeHasComeIsForgotten() throws Exception {
    await(registry.start());
    AccountSubject who = new AccountSubject("", "u1");
    await(registry.submit(new RevocationCommand.Revoke(who, 0, 500), Duration.ofSeconds(20)));
    clock.set(1_499);
    registry.expireRevocations();
    await(create("t"));
    assertThat(registry.snapshot().revocation(who)).isNotNull();
    clock.set(1_500);
    registry.expireRevocations();
    await(create("u"));
    assertThat(registry.snapshot().revocation(who)).isNull();
  }

  @Test
  void tooManyCommandsAreRefused() throws Exception {
    registry = new LocalRegistry(options(2, 1 << 20, 5), clock);
    holdTheThread();
    List<CompletionStage<CommandResult>> taken = List.of(create("a"), create("b"));
    RegistryException e = failure(create("c"));
    assertThat(e).isInstanceOf(RegistryOverloadedException.class);
    assertThat(e).hasMessageStartingWith("queued: 2 commands, ");
    assertThat(e.advice()).isEqualTo(RetryAdvice.SAME_ID);
    assertThat(e.maybeApplied()).isFalse();
    assertThat(registry.queuedCommands()).isEqualTo(2);
    assertThat(registry.commandsRefusedForLoad()).isEqualTo(1);
    gate.open();
    for (CompletionStage<CommandResult> stage : taken) {
      await(stage).expect(TopicCreated.class);
    }
    await(create("c")).expect(TopicCreated.class);
    assertThat(registry.queuedBytes()).isZero();
  }

  @Test
  void tooManyBytesAreRefused() throws Exception {
    registry = new LocalRegistry(options(1_000, 4_096, 5), clock);
    holdTheThread();
    RegistryCommand big =
        new TopicCommand.Create(new TopicSpec("t", Map.of("s", "v".repeat(1_000))));
    CompletionStage<CommandResult> first = registry.submit(big, LONG);
    assertThat(registry.queuedBytes()).isEqualTo(big.estimatedBytes()).isBetween(2_048L, 4_096L);
    assertThat(failure(registry.submit(big, LONG))).isInstanceOf(RegistryOverloadedException.class);
    gate.open();
    await(first).expect(TopicCreated.class);
  }

  @Test
  void aCommandThatIsLateBeforeItsTurnIsNotApplied() throws Exception {
    holdTheThread();
    RegistryException e = failure(registry.submit(creation("t"), SHORT));
    assertThat(e).isInstanceOf(RegistryTimeoutException.class);
    assertThat(e.maybeApplied()).isFalse();
    gate.open();
    await(create("u"));
    assertThat(registry.snapshot().topic("t")).isNull();
  }

  @Test
  void aCommandThatIsLateInItsTurnMayBeAppliedAndItsRepetitionTells() throws Exception {
    await(registry.start());
    registry.addListener(gate);
    CommandId id = registry.newCommandId();
    RegistryException e = failure(registry.submit(id, creation("t"), SHORT));
    assertThat(e).isInstanceOf(RegistryTimeoutException.class);
    assertThat(e.advice()).isEqualTo(RetryAdvice.SAME_ID);
    assertThat(e.maybeApplied()).isTrue();
    gate.open();
    assertThat(await(registry.submit(id, creation("t"), LONG))).isEqualTo(new TopicCreated(1));
  }

  @Test
  void shutdownAnswersWhatWaits() throws Exception {
    holdTheThread();
    CompletionStage<CommandResult> waiting = create("t");
    CompletionStage<Void> closed = registry.shutdown(LONG);
    assertThat(registry.lifecycle()).isEqualTo(RegistryLifecycle.CLOSING);
    assertThat(failure(create("u"))).isInstanceOf(RegistryClosedException.class);
    assertThat(closed.toCompletableFuture()).isNotDone();
    gate.open();
    await(waiting).expect(TopicCreated.class);
    await(closed);
    assertThat(registry.lifecycle()).isEqualTo(RegistryLifecycle.CLOSED);
    RegistryException e = failure(create("u"));
    assertThat(e).isInstanceOf(RegistryClosedException.class);
    assertThat(e.advice()).isEqualTo(RetryAdvice.NEVER);
    assertThat(failure(registry.linearizableRead(LONG)))
        .isInstanceOf(RegistryClosedException.class);
    assertThat(registry.snapshot().topic("t")).isNotNull();
    await(registry.shutdown(LONG));
  }

  @Test
  void shutdownEndsAtItsDeadlineAndSaysWhatMayBeApplied() throws Exception {
    registry.addListener(gate);
    await(registry.start());
    CompletionStage<CommandResult> taken = create("t");
    gate.awaitReached();
    CompletionStage<CommandResult> waiting = create("u");
    await(registry.shutdown(SHORT));
    assertThat(registry.lifecycle()).isEqualTo(RegistryLifecycle.CLOSED);
    RegistryException certain = failure(waiting);
    assertThat(certain).isInstanceOf(RegistryClosedException.class);
    assertThat(certain.maybeApplied()).isFalse();
    RegistryException uncertain = failure(taken);
    assertThat(uncertain).isInstanceOf(RegistryClosedException.class);
    assertThat(uncertain.maybeApplied()).isTrue();
  }

  @Test
  void shutdownAnswersACommandBehindTheGreetingOfAListener() throws Exception {
    Gate greeting = new Gate(0);
    await(registry.start());
    registry.addListener(greeting);
    greeting.awaitReached();
    CompletionStage<CommandResult> waiting = create("t");
    await(registry.shutdown(SHORT));
    assertThat(failure(waiting)).isInstanceOf(RegistryClosedException.class);
    greeting.open();
  }

  @Test
  void shutdownWithoutAStartIsAtOnce() throws Exception {
    await(registry.shutdown(SHORT));
    assertThat(registry.lifecycle()).isEqualTo(RegistryLifecycle.CLOSED);
    assertThatIllegalStateException().isThrownBy(registry::start);
  }

  @Test
  void closeFromAListenerDoesNotWaitForItself() throws Exception {
    CompletableFuture<RegistryLifecycle> after = new CompletableFuture<>();
    registry.addListener(
        (snapshot, changes) -> {
          registry.close();
          after.complete(registry.lifecycle());
        });
    await(registry.start());
    assertThat(await(after)).isEqualTo(RegistryLifecycle.CLOSING);
    await(registry.shutdown(LONG));
  }

  @Test
  void anErrorStopsTheRegistryAndFailsWhoWaits() throws Exception {
    registry.addListener(
        (snapshot, changes) -> {
          if (snapshot.version() == 1) {
            throw new AssertionError("meant");
          }
        });
    await(registry.start());
    RegistryException e = failure(create("t"));
    assertThat(e).isInstanceOf(RegistryFailedException.class);
    assertThat(e.advice()).isEqualTo(RetryAdvice.NEVER);
    assertThat(e.maybeApplied()).isTrue();
    assertThat(failure(create("u"))).isInstanceOf(RegistryFailedException.class);
    assertThat(registry.lifecycle()).isEqualTo(RegistryLifecycle.FAILED);
    await(registry.shutdown(LONG));
    assertThat(registry.lifecycle()).isEqualTo(RegistryLifecycle.CLOSED);
  }

  @Test
  void deadlinesAreChecked() {
    for (Duration bad :
        List.of(Duration.ZERO, Duration.ofMillis(-1), Duration.ofHours(1).plusNanos(1))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> registry.submit(creation("t"), bad))
          .withMessage("deadline: " + bad + " (expected: > 0 and <= PT1H)");
      assertThatIllegalArgumentException().isThrownBy(() -> registry.linearizableRead(bad));
      assertThatIllegalArgumentException().isThrownBy(() -> registry.shutdown(bad));
    }
  }

  @Test
  void optionsAreChecked() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> options(0, 4_096, 1))
        .withMessage("maxQueuedCommands: 0 (expected: 1 to 1000000)");
    assertThatIllegalArgumentException().isThrownBy(() -> options(1, 4_095, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> options(1, 4_096, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LocalRegistryOptions.DEFAULT.withFirstBusNumber(0));
  }

  private void holdTheThread() throws Exception {
    await(registry.start());
    registry.addListener(gate);
    CompletionStage<CommandResult> first = create("first");
    gate.awaitReached();
    assertThat(first.toCompletableFuture()).isNotDone();
  }

  private CompletionStage<CommandResult> create(String topic) {
    return registry.submit(creation(topic), LONG);
  }

  private static RegistryCommand creation(String topic) {
    return new TopicCommand.Create(new TopicSpec(topic, Map.of()));
  }

  private static LocalRegistryOptions options(int commands, long bytes, int listeners) {
    return new LocalRegistryOptions(RegistryLimits.DEFAULT, 1, commands, bytes, listeners);
  }

  private static <T> T await(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static RegistryException failure(CompletionStage<?> stage) {
    ExecutionException e = catchThrowableOfType(ExecutionException.class, () -> await(stage));
    assertThat(e.getCause()).isInstanceOf(RegistryException.class);
    return (RegistryException) e.getCause();
  }
}
