package io.eventbus.raft;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FollowerSilenceTest {
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Logger logger = new LoggerContext().getLogger("test");
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final FollowerSilence silence =
      new FollowerSilence(logger, "the registry's log", now::get);

  FollowerSilenceTest() {
    logger.setLevel(Level.INFO);
    logger.addAppender(lines);
    lines.start();
  }

  private List<String> taken() {
    List<String> texts = lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    lines.list.clear();
    return texts;
  }

  private void failFor(int seconds) {
    for (int i = 0; i < seconds * 10; i++) {
      silence.failed("b", new IOException("refused"));
      now.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
    }
  }

  @Test
  void logsAtOnceAndThenAtDoublingIntervals() {
    failFor(1);
    assertThat(taken())
        .containsExactly("Bus b does not accept the registry's log: java.io.IOException: refused");
    failFor(70);
    assertThat(taken())
        .containsExactly(
            "Bus b has not accepted the registry's log for 10 s (101 attempts), last:"
                + " java.io.IOException: refused",
            "Bus b has not accepted the registry's log for 30 s (301 attempts), last:"
                + " java.io.IOException: refused",
            "Bus b has not accepted the registry's log for 70 s (701 attempts), last:"
                + " java.io.IOException: refused");
  }

  /** Fails for seconds, as a bus does that is restarted. */
  @Test
  void warnsOnlyOfLastingSilence() {
    failFor(70);
    assertThat(lines.list)
        .extracting(ILoggingEvent::getLevel)
        .containsExactly(Level.INFO, Level.WARN, Level.WARN);
  }

  @Test
  void logsAtLeastHourly() {
    failFor(24 * 3600);
    assertThat(taken()).hasSizeBetween(24, 40);
  }

  @Test
  void anAnswerIsToldAndBeginsAnew() {
    silence.answered("b");
    assertThat(taken()).isEmpty();
    failFor(3);
    silence.answered("b");
    silence.answered("b");
    assertThat(taken())
        .containsExactly(
            "Bus b does not accept the registry's log: java.io.IOException: refused",
            "Bus b accepts the registry's log again, after 3000 ms and 30 attempts");
    failFor(1);
    silence.answered("b");
    assertThat(taken()).as("soon after the last line").isEmpty();
    now.addAndGet(FollowerSilence.FIRST_INTERVAL_NANOS);
    failFor(1);
    assertThat(taken())
        .containsExactly("Bus b does not accept the registry's log: java.io.IOException: refused");
  }

  @Test
  void limitsTheLinesOfAnUnstableFollower() {
    for (int i = 0; i < 60; i++) {
      failFor(1);
      silence.answered("b");
    }
    assertThat(taken()).hasSizeBetween(10, 14);
  }
}
