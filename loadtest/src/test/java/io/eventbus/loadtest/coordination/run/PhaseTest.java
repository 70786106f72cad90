package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.loadtest.coordination.CoordinationException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class PhaseTest {
  // Long enough for a first command on a machine that is busy with other builds.
  private static final Duration LENGTH = Duration.ofMillis(500);

  private final MemoryClient client = new MemoryClient();
  private final List<Slot> slots =
      List.of(new Slot(client, "a", 20), new Slot(client, "b", 20), new Slot(client, "c", 20));

  @BeforeEach
  void create() {
    slots.forEach(Slot::create);
  }

  private Phase threads() throws InterruptedException {
    Phase phase = new Phase(slots, LENGTH);
    phase.startThreads(Phase::write);
    phase.await();
    return phase;
  }

  private CoordinationIntegrity check() {
    return slots.stream()
        .map(Slot::check)
        .reduce(CoordinationIntegrity.NONE, CoordinationIntegrity::plus);
  }

  @Test
  void everySuccessIsCountedOnce() throws Exception {
    Phase phase = threads();
    CoordinationIntegrity integrity = check();
    assertThat(integrity.lost() + integrity.doubled()).isZero();
    long recorded = phase.recorders().stream().mapToLong(r -> r.nanos.getTotalCount()).sum();
    assertThat(recorded).isPositive().isEqualTo(phase.timeline.total());
    // The last command of each slot may end after the phase.
    assertThat(integrity.acknowledged()).isBetween(recorded, recorded + slots.size());
  }

  @Test
  void pipelinesDoTheSame() throws Exception {
    Phase phase = new Phase(slots, LENGTH);
    phase.startPipelines();
    phase.await();
    CoordinationIntegrity integrity = check();
    assertThat(integrity.lost() + integrity.doubled()).isZero();
    assertThat(integrity.acknowledged())
        .isBetween(phase.timeline.total(), phase.timeline.total() + slots.size());
  }

  @Test
  void whatFailedIsRepeatedAndCounted() throws Exception {
    client.failBeforeEvery = 5;
    Phase phase = threads();
    CoordinationIntegrity integrity = check();
    assertThat(integrity.acknowledged()).isPositive();
    assertThat(integrity.lost() + integrity.doubled()).isZero();
    assertThat(errors(phase, "before")).isPositive();
  }

  @Test
  void aRepetitionThatIsCarriedOutTwiceIsSeen() throws Exception {
    client.failAfterEvery = 5;
    Phase phase = threads();
    assertThat(check().doubled()).isPositive();
    assertThat(check().lost()).isZero();
    assertThat(errors(phase, "after")).isPositive();
  }

  @Test
  void anAcknowledgedWriteThatIsNotThereIsSeen() throws Exception {
    client.forgetEvery = 5;
    threads();
    assertThat(check().lost()).isPositive();
  }

  @Test
  void aWriteThatIsAcknowledgedAndCarriedOutTwiceIsSeen() throws Exception {
    client.doubleEvery = 5;
    threads();
    assertThat(check().doubled()).isPositive();
    assertThat(check().lost()).isZero();
  }

  @Test
  void aSystemThatHoldsNothingAnyMoreHasLostEverything() throws Exception {
    threads();
    long acknowledged = check().acknowledged();
    assertThat(acknowledged).isPositive();
    client.lose();
    assertThat(check().lost()).isEqualTo(acknowledged);
    assertThat(check().whole()).isFalse();
  }

  @Test
  void whatOneCheckFoundIsNotForgotten() throws Exception {
    threads();
    client.overwrite("a", "1");
    assertThat(check().doubled()).isEqualTo(1);
    client.create("a", String.valueOf(check().acknowledged()));
    assertThat(check().doubled()).isEqualTo(1);
  }

  @Test
  void aRegisterThatSomebodyElseWroteIsAFinding() throws Exception {
    client.foreignAt = 10;
    Phase phase = threads();
    assertThat(check().foreign()).isEqualTo(1);
    assertThat(errors(phase, CoordinationException.FOREIGN)).isEqualTo(1);
  }

  @Test
  void aClientThatDiesIsTold() {
    client.dieAt = 1;
    assertThatThrownBy(this::threads)
        .isInstanceOf(CoordinationException.class)
        .hasMessageContaining("a fault of the client");
  }

  @Test
  void aPipelineThatDiesIsTold() {
    client.dieAt = 1;
    Phase phase = new Phase(slots, LENGTH);
    phase.startPipelines();
    assertThatThrownBy(phase::await)
        .isInstanceOf(CoordinationException.class)
        .hasMessageContaining("a fault of the client");
  }

  @Test
  void answersThatAreThereAtOnceDoNotUseUpTheStack() throws Exception {
    client.answersAtOnce = true;
    Phase phase = new Phase(slots, LENGTH);
    phase.startPipelines();
    phase.await();
    assertThat(phase.timeline.total()).isPositive();
    assertThat(check().lost() + check().doubled()).isZero();
  }

  @Test
  void aClientThatDiesOfAnErrorIsTold() {
    client.dieAt = 1;
    client.diesOfAnError = true;
    assertThatThrownBy(this::threads)
        .isInstanceOf(CoordinationException.class)
        .hasMessageContaining("StackOverflowError: a fault of the client");
  }

  @Test
  void aPipelineThatDiesOfAnErrorIsTold() {
    client.dieAt = 1;
    client.diesOfAnError = true;
    Phase phase = new Phase(slots, LENGTH);
    phase.startPipelines();
    assertThatThrownBy(phase::await)
        .isInstanceOf(CoordinationException.class)
        .hasMessageContaining("StackOverflowError: a fault of the client");
  }

  @Test
  void aSlotGoesOnWhereItStoodInTheNextPhase() throws Exception {
    threads();
    long before = check().acknowledged();
    threads();
    assertThat(check().acknowledged()).isGreaterThan(before);
    assertThat(check().lost() + check().doubled()).isZero();
  }

  private static long errors(Phase phase, String kind) {
    return phase.recorders().stream().mapToLong(r -> r.errors.getOrDefault(kind, 0L)).sum();
  }
}
