package io.eventbus.client.internal.base;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

@Timeout(180)
class ClientSchedulerTest {
  private final ScheduledExecutorService conductor = Executors.newSingleThreadScheduledExecutor();

  @AfterEach
  void stop() {
    conductor.shutdownNow();
  }

  @Test
  void anErrorOfATaskIsLoggedAndTheNextOneRuns() throws Exception {
    Logger logger = (Logger) LoggerFactory.getLogger(ClientScheduler.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    logger.addAppender(lines);
    try {
      ClientScheduler scheduler = new ClientScheduler(conductor);
      CountDownLatch next = new CountDownLatch(1);
      scheduler.schedule(
          () -> {
            throw new NoClassDefFoundError("on purpose");
          },
          1);
      scheduler.schedule(next::countDown, 2);
      assertThat(next.await(60, TimeUnit.SECONDS)).isTrue();
      assertThat(lines.list)
          .singleElement()
          .satisfies(line -> assertThat(line.getThrowableProxy().getMessage()).contains("purpose"));
    } finally {
      logger.detachAppender(lines);
    }
  }
}
