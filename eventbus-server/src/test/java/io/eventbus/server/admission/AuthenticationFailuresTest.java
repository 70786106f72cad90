package io.eventbus.server.admission;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.eventbus.base.RateLimitedLog;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.helpers.NOPLogger;

class AuthenticationFailuresTest {
  private static final String REASON = "showed a wrong token";

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 7);
  private final AuthenticationFailures failures =
      new AuthenticationFailures(new RateLimitedLog(NOPLogger.NOP_LOGGER), now::get);

  private int prompt(String address, int times) {
    int prompt = 0;
    for (int i = 0; i < times; i++) {
      prompt += failures.note(Ip.of(address), REASON) ? 0 : 1;
    }
    return prompt;
  }

  @Test
  void aFailureIsToldWithItsAddressAndReason() {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    Logger logger = new LoggerContext().getLogger("test");
    logger.addAppender(lines);
    lines.start();
    new AuthenticationFailures(new RateLimitedLog(logger), now::get)
        .note(Ip.of("203.0.113.7"), "showed no token or a wrong one");
    assertThat(lines.list.stream().map(ILoggingEvent::getFormattedMessage))
        .containsExactly(
            "authentication failed: a client at 203.0.113.7 showed no token or a wrong one");
  }

  @Test
  void theSixthInAMinuteIsLateAndAllAfterIt() {
    assertThat(prompt("203.0.113.7", 100)).isEqualTo(5);
    assertThat(prompt("203.0.113.8", 1)).as("another address").isEqualTo(1);
    assertThat(prompt("127.0.0.1", 100)).as("this machine is no exception").isEqualTo(5);
  }

  @Test
  void whetherTheNextWillBeLateIsKnownBefore() {
    assertThat(failures.isMany(Ip.of("203.0.113.7"))).isFalse();
    assertThat(failures.isAny(Ip.of("203.0.113.7"))).isFalse();
    prompt("203.0.113.7", 4);
    assertThat(failures.isAny(Ip.of("203.0.113.7"))).isTrue();
    assertThat(failures.isMany(Ip.of("203.0.113.7"))).isFalse();
    prompt("203.0.113.7", 1);
    assertThat(failures.isMany(Ip.of("203.0.113.7"))).isTrue();
    assertThat(failures.isMany(Ip.of("203.0.113.8"))).isFalse();
    assertThat(failures.isAny(Ip.of("203.0.113.8"))).isFalse();
    now.addAndGet(Duration.ofSeconds(60).toNanos());
    assertThat(failures.isMany(Ip.of("203.0.113.7"))).isFalse();
    assertThat(failures.isAny(Ip.of("203.0.113.7"))).isFalse();
  }

  @Test
  void aMinuteLaterItBeginsAnew() {
    assertThat(prompt("203.0.113.7", 17)).isEqualTo(5);
    now.addAndGet(Duration.ofSeconds(59).toNanos());
    assertThat(prompt("203.0.113.7", 1)).isZero();
    now.addAndGet(Duration.ofSeconds(60).toNanos());
    assertThat(prompt("203.0.113.7", 17)).isEqualTo(5);
  }

  @Test
  void fewerThanSixInAnyMinuteAreNeverLate() {
    for (int i = 0; i < 100; i++) {
      assertThat(prompt("203.0.113.7", 1)).isEqualTo(1);
      now.addAndGet(Duration.ofSeconds(12).toNanos());
    }
  }

  @Test
  void rememberedAddressesAreBounded() {
    for (int i = 0; i < AuthenticationFailures.MAX_ADDRESSES + 1000; i++) {
      failures.note(Ip.of("10." + (i >> 16) + "." + (i >> 8 & 255) + "." + (i & 255)), REASON);
    }
    assertThat(failures.size()).isEqualTo(AuthenticationFailures.MAX_ADDRESSES);
    now.addAndGet(Duration.ofMinutes(2).toNanos());
    for (int i = 0; i < 1000; i++) {
      failures.note(Ip.of("203.0.113.7"), REASON);
    }
    assertThat(failures.size()).isLessThan(AuthenticationFailures.MAX_ADDRESSES - 900);
  }
}
