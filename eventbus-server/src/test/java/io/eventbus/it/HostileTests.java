package io.eventbus.it;

import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Shared part of tests with hostile clients: one watched bus, which is checked after each test.
 * Only deadlines that such tests wait for are short: clients of a busy machine may be slow to
 * begin.
 */
@ExtendWith(LeakWatch.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(240)
abstract class HostileTests {
  WatchedBus bus;

  @BeforeAll
  void startBus() throws IOException {
    bus = WatchedBus.start(settings());
  }

  @AfterEach
  void checkBus() {
    bus.check();
  }

  @AfterAll
  void stopBus() throws IOException {
    bus.close();
  }

  /** Returns pairs of keys and values. */
  String[] settings() {
    return new String[] {"timeouts.upgrade", "1m", "timeouts.hello", "1m", "timeouts.close", "1s"};
  }
}
