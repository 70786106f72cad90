package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Welcome;
import io.eventbus.server.samples.TestAccess;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** Client of a bus with a token. */
abstract class SessionTestCase {
  static final Instant NOW = Instant.parse("2026-03-04T05:06:07.123456Z");
  static final int SUBSCRIPTIONS = 3;
  static final int SUBSCRIPTION_BYTES = 2048;

  final LookedUp byNumber = new LookedUp();
  final SessionFixture bus = bus();
  final LoopContext context = bus.context();
  final FakeLink link = new FakeLink();
  final Session session = link.session(context);
  final AtomicInteger retries = new AtomicInteger();

  SessionFixture bus() {
    Clock clock = Clock.fixed(NOW, ZoneOffset.UTC);
    Sessions sessions =
        new Sessions("bus", clock, List::of, ResumeKey.ofThisRun(), System::nanoTime, byNumber);
    return new SessionFixture(clock, TestAccess.token("s3cret"), sessions)
        .config(
            Map.of(
                "limits.subscriptions",
                String.valueOf(SUBSCRIPTIONS),
                "limits.groups",
                "1",
                "limits.subscription-bytes",
                String.valueOf(SUBSCRIPTION_BYTES),
                "limits.payload-bytes",
                "1000"));
  }

  /** Map that runs a task when a session was just found by its number. */
  static final class LookedUp extends ConcurrentSkipListMap<Long, Session> {
    private static final long serialVersionUID = 1;

    transient @Nullable Runnable next;

    @Override
    public @Nullable Session get(Object number) {
      Session found = super.get(number);
      Runnable happens = next;
      next = null;
      if (happens != null) {
        happens.run();
      }
      return found;
    }
  }

  @AfterEach
  void assertNoLeaks() {
    session.onClosed();
    assertThat(bus.memory.used()).isZero();
    assertThat(bus.index.size()).isZero();
    assertThat(bus.index.bytes()).isZero();
    assertThat(bus.sessions.find(1)).isNull();
    assertThat(link.addressBytes).isZero();
  }

  static byte[] hello(@Nullable String token, @Nullable String resume) {
    return ControlFrames.encode(
        TypeCode.HELLO, new Hello("client", "agent/1", token, resume, Map.of(), null, null, null));
  }

  static byte[] subscribe(long id, String filter, @Nullable String group) {
    return ControlFrames.encode(
        TypeCode.SUBSCRIBE, new Subscribe(id, filter, group, Overflow.BLOCK));
  }

  static byte[] message(byte[]... frames) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] frame : frames) {
      all.writeBytes(frame);
    }
    return all.toByteArray();
  }

  /**
   * Handles a message that does not start at the buffer's start; returns how many bytes were
   * handled.
   */
  int handle(Session by, byte[] message, int from) {
    ByteBuffer in = ByteBuffer.allocate(message.length + 10);
    in.put(5, message);
    return by.onMessage(in, 5 + from, 5 + message.length, 77, retries::incrementAndGet) - 5;
  }

  void handle(byte[]... frames) {
    byte[] message = message(frames);
    assertThat(handle(session, message, 0)).isEqualTo(message.length);
  }

  Welcome welcome() {
    handle(hello("s3cret", null));
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(1);
    return (Welcome) sent.get(0);
  }

  Problem problem(ErrorCode code, TypeCode type, long about, String topic) {
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(1).first().isInstanceOf(Problem.class);
    Problem problem = (Problem) sent.get(0);
    assertThat(problem.getCode()).isEqualTo(code);
    assertThat(problem.getTypeCode()).isEqualTo(type.code());
    assertThat(problem.getAbout()).isEqualTo(about);
    assertThat(problem.getTopic()).isEqualTo(topic);
    assertThat(bus.counters.problems(code)).isPositive();
    return problem;
  }

  void assertClosed(CloseReason reason) {
    assertThat(link.closed).hasSize(1);
    assertThat(link.closed.get(0).reason()).isEqualTo(reason);
  }
}
