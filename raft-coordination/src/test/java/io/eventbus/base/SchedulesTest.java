package io.eventbus.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

@Timeout(120)
class SchedulesTest {
  @Test
  void aTaskIsRunAgainAfterAnExceptionAndAfterAnError() throws Exception {
    CountDownLatch runs = new CountDownLatch(3);
    ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
    try {
      var unused =
          executor.scheduleWithFixedDelay(
              Schedules.guarded(
                  LoggerFactory.getLogger(SchedulesTest.class),
                  "testing",
                  () -> {
                    runs.countDown();
                    if (runs.getCount() == 2) {
                      throw new IllegalStateException("on purpose");
                    }
                    throw new AssertionError("on purpose");
                  }),
              0,
              1,
              TimeUnit.MILLISECONDS);
      assertThat(runs.await(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      executor.shutdownNow();
    }
  }
}
