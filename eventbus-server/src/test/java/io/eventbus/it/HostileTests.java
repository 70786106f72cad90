package io.eventbus.it;

import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What tests with hostile clients share: one watched bus with short deadlines, which is checked
 * after each test.
 */
@ExtendWith(LeakWatch.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(60)
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

  /** Pairs of keys and values. */
  String[] settings() {
    return new String[] {"timeouts.upgrade", "1s", "timeouts.hello", "1s", "timeouts.close", "1s"};
  }
}
