package io.eventbus.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DenialLogTest {
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final AtomicLong now = new AtomicLong();
  private final DenialLog log;

  DenialLogTest() {
    Logger logger = new LoggerContext().getLogger("test");
    logger.addAppender(lines);
    lines.start();
    log = new DenialLog(logger, now::get);
  }

  private void deny(String client, String topic) {
    log.denied(
        client, Action.PUBLISH, topic, new Verdict(false, null, "no rule allows it\n\u202e"));
  }

  private List<String> logged() {
    return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void theFirstInAMinuteIsToldWithItsRuleAndTheNextWithACount() {
    for (int i = 0; i < 5; i++) {
      deny("'u1\u001b'", "a.b");
    }
    deny("'u2'", "a.b");
    now.addAndGet(Duration.ofMinutes(1).toNanos());
    deny("'u1\u001b'", "a.b");
    assertThat(logged())
        .containsExactly(
            "'u1?' may not publish 'a.b': no rule allows it??",
            "'u2' may not publish 'a.b': no rule allows it??",
            "'u1?' may not publish 'a.b': no rule allows it?? (and 4 more like this since the last"
                + " such line)");
  }
}
