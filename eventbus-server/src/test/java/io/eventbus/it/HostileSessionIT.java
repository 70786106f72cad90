package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Unsubscribe;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames that are well formed, but violate the protocol. */
class HostileSessionIT extends HostileTests {
  @Override
  String[] settings() {
    return new String[] {
      "timeouts.upgrade", "1m",
      "timeouts.hello", "1m",
      "timeouts.close", "1s",
      "limits.subscriptions", "10",
      "auth.observe", "nobody"
    };
  }

  private static byte[] hello(@Nullable String token, @Nullable String resume) {
    return ControlFrames.encode(
        TypeCode.HELLO, new Hello("x", "x", token, resume, Map.of(), null, null, null));
  }

  private static void refused(RawClient client, ErrorCode code, int close) throws Exception {
    Ending ending = Ending.of(client);
    assertThat(ending.problems()).hasSize(1);
    assertThat(ending.problems().get(0).getCode()).isEqualTo(code);
    assertThat(ending.problems().get(0).getRetryable()).isFalse();
    assertThat(ending.code()).isEqualTo(close);
    assertThat(ending.closeFrames()).isEqualTo(1);
  }

  @Test
  void noHelloIsClosedAtTheDeadline() throws Exception {
    try (WatchedBus brisk = WatchedBus.alone("timeouts.hello", "1s");
        RawClient client = RawClient.tcp(brisk.uri())) {
      client.upgrade("/bus", "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n");
      client.sendFrame(0x89, new byte[0]);
      Ending ending = Ending.of(client);
      assertThat(ending.code()).isEqualTo(4002);
      assertThat(ending.reason()).contains("Hello");
      assertThat(ending.closeFrames()).isEqualTo(1);
    }
  }

  @Test
  void aSecondHelloIsAViolation() throws Exception {
    try (RawClient client = RawClient.connected(bus.uri());
        RawClient both = RawClient.upgraded(bus.uri())) {
      client.send(hello(null, null));
      refused(client, ErrorCode.PROTOCOL_VIOLATION, 1002);
      both.send(TestFrames.join(hello(null, null), hello(null, null), TestFrames.barrier(1)));
      refused(both, ErrorCode.PROTOCOL_VIOLATION, 1002);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 40, 99, -1, Integer.MAX_VALUE})
  void anotherFirstFrameIsAViolation(int type) throws Exception {
    try (RawClient client = RawClient.upgraded(bus.uri())) {
      client.send(TestFrames.frame(type, new byte[] {2, 2, 2, 2}));
      refused(client, ErrorCode.PROTOCOL_VIOLATION, 1002);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 4, 7, 8, 9, 10, 12})
  void aFrameThatOnlyABusMaySendIsAViolation(int type) throws Exception {
    try (RawClient client = RawClient.connected(bus.uri())) {
      client.send(TestFrames.frame(type, new byte[] {2, 2, 2, 2}));
      refused(client, ErrorCode.PROTOCOL_VIOLATION, 1002);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {14, 15, 40, 59, 100, -1, Integer.MIN_VALUE, Integer.MAX_VALUE})
  void anUnknownFrameIsSkipped(int type) throws Exception {
    try (RawClient client = RawClient.connected(bus.uri())) {
      client.send(TestFrames.join(TestFrames.frame(type, new byte[3000]), TestFrames.barrier(5)));
      Problem problem = client.expectProblem();
      assertThat(problem.getCode()).isEqualTo(ErrorCode.UNKNOWN_TYPE);
      assertThat(problem.getTypeCode()).isEqualTo(type);
      client.expect(TypeCode.BARRIER);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAé"
      })
  void aResumeThatNoBusGaveIsRefused(String resume) throws Exception {
    try (RawClient client = RawClient.upgraded(bus.uri())) {
      client.send(hello(null, resume));
      refused(client, ErrorCode.UNAUTHENTICATED, 4500);
    }
  }

  @Test
  void aWrongTokenIsRefused() throws Exception {
    try (WatchedBus locked = WatchedBus.alone("auth.token", "secret-token-1")) {
      for (String token : new String[] {null, "", "secret-token-2", "secret-token-1 "}) {
        try (RawClient client = RawClient.upgraded(locked.uri())) {
          client.send(hello(token, null));
          refused(client, ErrorCode.UNAUTHENTICATED, 4500);
        }
      }
      try (RawClient client = RawClient.upgraded(locked.uri())) {
        client.send(hello("secret-token-1", null));
        client.expect(TypeCode.WELCOME);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "a b",
        "a\tb",
        "a\u0000b",
        "a\u00a0b",
        "a\u2028b",
        "a.*",
        "*",
        ">",
        "a.>",
        "a*",
        "$SYS.x",
        "$",
        "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17"
      })
  void anIllegalTopicIsRefused(String topic) throws Exception {
    try (RawClient client = RawClient.connected(bus.uri())) {
      client.send(RawClient.publish(topic, 3, true, "x"));
      Problem problem = client.expectProblem();
      assertThat(problem.getCode()).isEqualTo(ErrorCode.ILLEGAL_TOPIC);
      assertThat(problem.getAbout()).isEqualTo(3);
      assertThat(problem.getTopic()).isEqualTo(topic);
      client.send(RawClient.publish("a." + "x".repeat(253), 1, true, "x"));
      client.expectConfirm();
      client.send(RawClient.publish("a." + "x".repeat(254), 4, true, "x"));
      Problem tooLong = client.expectProblem();
      assertThat(tooLong.getCode()).isEqualTo(ErrorCode.TOO_BIG);
      assertThat(tooLong.getAbout()).isEqualTo(4);
      assertThat(tooLong.getTopic()).isEqualTo("a." + "x".repeat(250) + "\u2026");
      client.send(RawClient.publish("a.b", 1, true, "x"));
      client.expectConfirm();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ".",
        "a.",
        "..",
        "a b",
        "a\nb",
        "a.>.b",
        ">.>",
        "a*",
        "*a.b",
        "a.b>",
        "**",
        ">>",
        "*.*.*.*.*.*.*.*.*.*.*.*.*.*.*.*.>"
      })
  void anIllegalFilterIsRefused(String filter) throws Exception {
    try (RawClient client = RawClient.connected(bus.uri())) {
      client.send(subscribe(9, filter));
      Problem problem = client.expectProblem();
      assertThat(problem.getCode()).isEqualTo(ErrorCode.ILLEGAL_FILTER);
      assertThat(problem.getAbout()).isEqualTo(9);
      client.subscribe(9, "legal.>");
      client.send(subscribe(10, "a." + "x".repeat(254)));
      Problem tooLong = client.expectProblem();
      assertThat(tooLong.getCode()).isEqualTo(ErrorCode.TOO_BIG);
      assertThat(tooLong.getAbout()).isEqualTo(10);
      client.subscribe(10, "legal.too");
    }
  }

  private static byte[] subscribe(long id, String filter) {
    return ControlFrames.encode(
        TypeCode.SUBSCRIBE, new Subscribe(id, filter, null, Overflow.BLOCK));
  }

  @Test
  void subscriptionsThatCannotBeAreRefused() throws Exception {
    try (RawClient client = RawClient.connected(bus.uri())) {
      client.send(subscribe(1, "$SYS.>"));
      assertThat(client.expectProblem().getCode()).isEqualTo(ErrorCode.FORBIDDEN);
      client.send(
          ControlFrames.encode(TypeCode.SUBSCRIBE, new Subscribe(1L, "a", " ", Overflow.CONFLATE)));
      assertThat(client.expectProblem().getCode()).isEqualTo(ErrorCode.ILLEGAL_FILTER);
      for (int i = 0; i < 10; i++) {
        client.subscribe(i, "a." + i);
      }
      client.send(subscribe(5, "b"));
      assertThat(client.expectProblem().getCode()).isEqualTo(ErrorCode.DUPLICATE_SUBSCRIPTION);
      client.send(subscribe(10, "b"));
      assertThat(client.expectProblem().getCode()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
      client.send(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(77L)));
      assertThat(client.expectProblem().getCode()).isEqualTo(ErrorCode.UNKNOWN_SUBSCRIPTION);
    }
  }

  @Test
  void aClientThatDoesNotAnswerPingsIsIdle() throws Exception {
    try (WatchedBus brisk =
            WatchedBus.start("timeouts.ping-interval", "300ms", "timeouts.pong", "2s");
        RawClient client = RawClient.connected(brisk.uri())) {
      Ending ending = Ending.of(client);
      assertThat(ending.code()).isEqualTo(4002);
      assertThat(ending.closeFrames()).isEqualTo(1);
      brisk.pair().awaitProgress();
    }
  }
}
