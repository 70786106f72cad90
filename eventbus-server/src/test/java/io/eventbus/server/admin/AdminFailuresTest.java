package io.eventbus.server.admin;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.eventbus.base.RateLimitedLog;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AdminFailuresTest {
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Logger logger = new LoggerContext().getLogger("test");
  private final AtomicLong now = new AtomicLong();
  private final AdminFailures failures = new AdminFailures(new RateLimitedLog(logger, now::get));

  AdminFailuresTest() {
    logger.addAppender(lines);
    lines.start();
  }

  private List<String> taken() {
    List<String> texts = lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    lines.list.clear();
    return texts;
  }

  private static RuntimeException one() {
    return new IllegalStateException("a secret detail");
  }

  private static RuntimeException another() {
    return new IllegalStateException("another one");
  }

  @Test
  void theAnswerNamesTheLineOfTheLog() {
    assertThat(failures.tell(one())).endsWith("error 1").doesNotContain("secret");
    assertThat(lines.list.get(0).getThrowableProxy().getMessage()).isEqualTo("a secret detail");
    assertThat(taken()).containsExactly("administration request failed: error 1");
    assertThat(failures.tell(another())).endsWith("error 2");
    assertThat(taken()).containsExactly("administration request failed: error 2");
  }

  @Test
  void repeatedFailuresKeepTheirNumberAndAreLoggedRarely() {
    for (int i = 0; i < 100; i++) {
      assertThat(failures.tell(one())).endsWith("error 1");
    }
    assertThat(taken()).hasSize(1);
    now.addAndGet(10_000_000_000L);
    assertThat(failures.tell(one())).endsWith("error 1");
    assertThat(taken())
        .containsExactly(
            "administration request failed: error 1 (and 99 more like this since the last such"
                + " line)");
  }

  @Test
  void kindsAreBounded() {
    for (int i = 0; i < 10 * AdminFailures.MAX_KINDS; i++) {
      RuntimeException failure = one();
      failure.setStackTrace(new StackTraceElement[] {new StackTraceElement("C", "m", "C.java", i)});
      assertThat(failures.tell(failure)).endsWith("error " + (i + 1));
    }
    assertThat(taken()).hasSizeLessThanOrEqualTo(AdminFailures.MAX_KINDS + 1);
    assertThat(failures.tell(one())).endsWith("error " + (10 * AdminFailures.MAX_KINDS + 1));
  }
}
