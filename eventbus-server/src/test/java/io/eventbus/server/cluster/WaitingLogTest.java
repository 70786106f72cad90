package io.eventbus.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WaitingLogTest {
  @Test
  void whatIsWaitedForIsSaidAndNotOnlyWhoLeads() {
    assertThat(WaitingLog.describe(false, false, "this bus waits for bus b"))
        .isEqualTo("this bus waits for bus b");
    assertThat(WaitingLog.describe(false, true, "the leader is bus a"))
        .isEqualTo("this bus waits until it is a member and up to date; the leader is bus a");
    assertThat(WaitingLog.describe(true, true, "the leader is bus a"))
        .isEqualTo("this bus waits for the registry to know it; the leader is bus a");
  }
}
