package io.eventbus.client.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CreditGateTest {
  private final CreditGate gate = new CreditGate();

  private void come(long bytes) {
    assertThat(gate.received(bytes, (int) bytes)).isFalse();
  }

  @Test
  void moreIsGrantedWhenHalfIsUsed() {
    assertThat(gate.isDue(1000)).as("nothing was told yet").isTrue();
    assertThat(gate.raise(gate.next(1000))).isTrue();
    assertThat(gate.isDue(1000)).isFalse();
    come(499);
    assertThat(gate.isDue(1000)).isFalse();
    assertThat(gate.received(1, 1)).as("worth a look").isTrue();
    assertThat(gate.isDue(1000)).isTrue();
    assertThat(gate.isDue(999)).as("the bus may send more than half of the room").isFalse();
    assertThat(gate.next(1000)).isEqualTo(1500);
    assertThat(gate.raise(1500)).isTrue();
    assertThat(gate.received()).isEqualTo(500);
    come(1);
  }

  @Test
  void nothingIsToldThatChangesNothing() {
    assertThat(gate.raise(0)).as("from now on there is a limit").isTrue();
    assertThat(gate.raise(0)).isFalse();
    assertThat(gate.raise(Long.MAX_VALUE)).isTrue();
    assertThat(gate.raise(5)).isFalse();
    assertThat(gate.isDue(Long.MAX_VALUE)).isFalse();
  }

  @Test
  void permitsOneFrameBeyondTheLimit() {
    gate.raise(100);
    assertThat(gate.received(130, 31)).as("it is used up").isTrue();
    assertThat(gate.isBeyond()).isFalse();
    assertThat(gate.received(1, 1)).isTrue();
    assertThat(gate.isBeyond()).isTrue();
    gate.raise(500);
    assertThat(gate.isBeyond()).isFalse();
  }

  @Test
  void aBusThatWasToldNothingYetSendsWithoutRegard() {
    assertThat(gate.isBeyond()).as("it has sent nothing").isFalse();
    assertThat(gate.received(1, 1)).isTrue();
    assertThat(gate.isBeyond()).isTrue();
  }

  @Test
  void aBusThatDoesNotKnowOfCreditIsToldNothingMore() {
    gate.raise(1000);
    gate.refused();
    assertThat(gate.isBeyond()).isTrue();
    assertThat(gate.received(1, 1)).isTrue();
    assertThat(gate.isDue(1 << 20)).isFalse();
    assertThat(gate.raise(2000)).isFalse();
  }
}
