package io.eventbus.base;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RateLimitedLogTest {
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Logger logger = new LoggerContext().getLogger("test");
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final RateLimitedLog log = new RateLimitedLog(logger, now::get);

  RateLimitedLogTest() {
    logger.addAppender(lines);
    lines.start();
  }

  private List<String> taken() {
    List<String> texts = lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    lines.list.clear();
    return texts;
  }

  @Test
  void theFirstIsWrittenAndThenOneInTenSeconds() {
    for (int i = 0; i < 100; i++) {
      log.warn("a", "number {}", i);
    }
    assertThat(taken()).containsExactly("number 0");
    now.addAndGet(RateLimitedLog.INTERVAL_NANOS - 1);
    log.warn("a", "number {}", 100);
    assertThat(taken()).isEmpty();
    now.addAndGet(1);
    log.warn("a", "number {}", 101);
    log.warn("a", "number {}", 102);
    assertThat(taken())
        .containsExactly("number 101 (and 100 more like this since the last such line)");
  }

  @Test
  void linesKeepTheirLevel() {
    log.warn("a", "one");
    log.info("b", "two");
    assertThat(lines.list)
        .extracting(ILoggingEvent::getLevel)
        .containsExactly(Level.WARN, Level.INFO);
  }

  @Test
  void aKindDoesNotHideAnother() {
    log.warn("a", "one");
    log.warn("b", "two");
    assertThat(taken()).containsExactly("one", "two");
  }

  @Test
  void kindsAreBounded() {
    for (int i = 0; i < 10_000; i++) {
      log.warn("kind " + i, "number {}", i);
    }
    assertThat(taken()).hasSize(RateLimitedLog.MAX_KINDS + 1);
    now.addAndGet(RateLimitedLog.INTERVAL_NANOS);
    log.warn("another", "after a while");
    assertThat(taken()).containsExactly("after a while");
  }

  @Test
  void thePauseMayBeAnother() {
    RateLimitedLog rare = new RateLimitedLog(logger, now::get, Duration.ofHours(1));
    rare.warn("a", "one");
    now.addAndGet(Duration.ofHours(1).toNanos() - 1);
    rare.warn("a", "two");
    now.addAndGet(1);
    rare.warn("a", "three");
    assertThat(taken())
        .containsExactly("one", "three (and 1 more like this since the last such line)");
  }

  @Test
  void anErrorHasItsStackTraceAndIsLimitedAsWell() {
    for (int i = 0; i < 100; i++) {
      log.error("a", new IllegalStateException("broken"), "it failed with {}");
    }
    assertThat(lines.list.get(0).getLevel()).isEqualTo(Level.ERROR);
    assertThat(lines.list.get(0).getThrowableProxy().getMessage()).isEqualTo("broken");
    assertThat(taken()).containsExactly("it failed with {}");
    now.addAndGet(RateLimitedLog.INTERVAL_NANOS);
    log.error("a", new IllegalStateException("broken"), "it failed");
    assertThat(taken())
        .containsExactly("it failed (and 99 more like this since the last such line)");
  }

  @Test
  void anExceptionIsOneLine() {
    log.warn("a", "refused: {}", new OutOfMemoryError("direct buffers"));
    assertThat(lines.list.get(0).getThrowableProxy()).isNull();
    assertThat(lines.list.get(0).getLevel()).isEqualTo(Level.WARN);
    assertThat(taken()).containsExactly("refused: java.lang.OutOfMemoryError: direct buffers");
  }
}
