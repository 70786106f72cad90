package io.eventbus.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JoinProgressLogTest {
  @Test
  void theSituationNamesWhatTheBusWaitsFor() {
    assertThat(JoinProgressLog.describe(false, false, "this bus waits for bus b"))
        .isEqualTo("this bus waits for bus b");
    assertThat(JoinProgressLog.describe(false, true, "the leader is bus a"))
        .isEqualTo("this bus waits until it is a member and up to date; the leader is bus a");
    assertThat(JoinProgressLog.describe(true, true, "the leader is bus a"))
        .isEqualTo("this bus waits for the registry to know it; the leader is bus a");
  }
}
