package io.eventbus.server.transport.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.eventbus.base.RateLimitedLog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Reports of refused pages; the refusals are in {@link UpgradeHandshakeTest}. */
class OriginCheckTest {
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Logger logger = new LoggerContext().getLogger("test");
  private final AtomicLong now = new AtomicLong();
  private final OriginCheck check =
      new OriginCheck(
          List.of(), "0.0.0.0", new RateLimitedLog(logger, now::get, Duration.ofHours(1)));

  OriginCheckTest() {
    logger.addAppender(lines);
    lines.start();
  }

  private List<String> taken() {
    List<String> texts = lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    lines.list.clear();
    return texts;
  }

  @Test
  void aSiteIsToldOfOnce() {
    for (int i = 0; i < 100; i++) {
      check.tellRefused("https://app.example.com", "192.0.2.1:" + i);
      check.tellRefused("https://other.example.com", "192.0.2.2:" + i);
    }
    assertThat(taken())
        .containsExactly(
            "refused a web page of https://app.example.com that was opened at 192.0.2.1:0: if it"
                + " may use this bus, add its site to listen.allowed-origins",
            "refused a web page of https://other.example.com that was opened at 192.0.2.2:0: if it"
                + " may use this bus, add its site to listen.allowed-origins");
    now.addAndGet(Duration.ofHours(1).toNanos());
    check.tellRefused("https://app.example.com", "192.0.2.1:1");
    assertThat(taken()).singleElement().asString().contains("and 99 more like this");
  }

  @Test
  void anyClientTextIsOneShortLine() {
    check.tellRefused("https://a\r\n\u001b[2J" + "x".repeat(1000), "192.0.2.1:1");
    assertThat(taken())
        .singleElement()
        .asString()
        .startsWith("refused a web page of https://a???[2Jxxx")
        .hasSizeLessThan(300);
  }
}
