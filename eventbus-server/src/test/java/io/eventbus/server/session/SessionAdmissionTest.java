package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Echo;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Welcome;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.samples.TestAccess;
import io.eventbus.server.security.Principal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that say Hello. */
class SessionAdmissionTest extends SessionTestCase {
  @Test
  void delaysTheRefusalOfFrequentWrongTokens() {
    link.late = true;
    byte[] wrong = hello("wrong", null);
    assertThat(handle(session, wrong, 0)).as("nothing was handled").isZero();
    assertThat(link.sent).isEmpty();
    assertThat(link.closed).isEmpty();
    assertThat(session.isWelcomed()).isFalse();
    assertThat(handle(session, wrong, 0)).isEqualTo(wrong.length);
    assertThat(link.failures).containsExactly("showed a wrong token");
    assertThat(link.sent).hasSize(1).first().isInstanceOf(Problem.class);
    assertThat(link.closed).hasSize(1);
    assertThat(link.closed.get(0).reason()).isEqualTo(CloseReason.UNAUTHENTICATED);
  }

  @Test
  void aRightTokenIsNoFailure() {
    link.late = true;
    handle(session, hello("s3cret", null), 0);
    assertThat(link.failures).isEmpty();
    assertThat(session.isWelcomed()).isTrue();
  }

  @Test
  void helloIsWelcomedWithASecretAndItsNumber() throws Exception {
    assertThat(session.isWelcomed()).isFalse();
    Welcome welcome = welcome();
    assertThat(welcome.getBus()).isEqualTo("bus");
    assertThat(welcome.getSession()).startsWith("bus-").isEqualTo(session.id());
    assertThat(welcome.getResume()).hasSize(43).matches("[A-Za-z0-9_-]+");
    byte[] hash =
        MessageDigest.getInstance("SHA-256")
            .digest(welcome.getResume().getBytes(StandardCharsets.UTF_8));
    assertThat(welcome.getProducer())
        .isEqualTo(ByteBuffer.wrap(hash).getLong() & Long.MAX_VALUE)
        .isEqualTo(session.producer());
    assertThat(welcome.getLimits().getSubscriptions()).isEqualTo(SUBSCRIPTIONS);
    assertThat(welcome.getLimits().getPayloadBytes()).isEqualTo(1000);
    assertThat(welcome.getOthers()).isEmpty();
    assertThat(session.isWelcomed()).isTrue();
    assertThat(bus.sessions.find(1)).isSameAs(session);
    assertThat(session.identity().client()).isEqualTo("client");
    assertThat(session.identity().agent()).isEqualTo("agent/1");
    assertThat(session.identity().since()).isEqualTo(NOW);
    assertThat(session.identity().toString()).doesNotContain(welcome.getResume());
  }

  @Test
  void twoSecretsAreNeverTheSame() {
    Welcome one = welcome();
    FakeLink other = new FakeLink();
    Session second = other.session(context);
    handle(second, hello("s3cret", null), 0);
    Welcome two = (Welcome) other.taken().get(0);
    assertThat(two.getResume()).isNotEqualTo(one.getResume());
    assertThat(two.getSession()).isNotEqualTo(one.getSession());
    second.onClosed();
  }

  @Test
  void aResumeKeepsTheNumberOnAnyBusAndReplacesTheEarlierConnection() {
    Welcome first = welcome();
    String resume = first.getResume();
    FakeLink other = new FakeLink();
    Session second = other.session(context);
    handle(second, hello("s3cret", resume), 0);
    assertThat(second.producer()).isEqualTo(first.getProducer());
    assertClosed(CloseReason.REPLACED);
    assertThat(other.closed).isEmpty();
    assertThat(bus.sessions.after(0)).containsExactly(second);
    // The end of the old connection comes late.
    session.onClosed();
    assertThat(bus.sessions.after(0)).containsExactly(second);
    Session third = new FakeLink().session(context);
    handle(third, hello("s3cret", resume), 0);
    assertThat(other.closed).as("the second is known by its number").hasSize(1);
    assertThat(bus.sessions.after(0)).containsExactly(third);
    third.onClosed();
    second.onClosed();
    assertThat(bus.sessions.after(0)).isEmpty();
  }

  private static byte[] back(@Nullable String resume, String previous) {
    return ControlFrames.encode(
        TypeCode.HELLO,
        new Hello("client", "agent/1", "s3cret", resume, Map.of(), null, null, previous));
  }

  @Test
  void asksThePreviousBusToCloseItsSession() {
    List<String> asked = new ArrayList<>();
    bus.sessions.setStaleSessions((id, producer) -> asked.add(id + " " + producer));
    handle(hello("s3cret", null));
    String resume = ((Welcome) link.taken().get(0)).getResume();
    Session second = new FakeLink().session(context);
    handle(second, back(resume, "other-1-7"), 0);
    assertThat(asked).containsExactly("other-1-7 " + session.producer());
    // This bus's own session was found by its number; another client's resume proves nothing.
    Session third = new FakeLink().session(context);
    handle(third, back(resume, second.identity().id()), 0);
    Session stranger = new FakeLink().session(context);
    handle(stranger, back("A".repeat(43), "other-1-7"), 0);
    Session fresh = new FakeLink().session(context);
    handle(fresh, back(null, "other-1-7"), 0);
    assertThat(asked).hasSize(1);
    for (Session open : List.of(second, third, stranger, fresh)) {
      open.onClosed();
    }
  }

  @Test
  void aSessionIsReplacedFromAnotherBusByItsIdAndNumberOnly() {
    handle(hello("s3cret", null));
    String id = session.identity().id();
    long producer = session.producer();
    for (String wrong :
        List.of("", id + "0", id.substring(0, id.length() - 1), "x" + id, id + "x")) {
      assertThat(bus.sessions.replace(wrong, producer)).as(wrong).isFalse();
    }
    assertThat(bus.sessions.replace(id, producer + 1)).isFalse();
    assertThat(link.closed).isEmpty();
    assertThat(bus.sessions.replace(id, producer)).isTrue();
    assertClosed(CloseReason.REPLACED);
  }

  @Test
  void aResumeThatTheClientMadeUpCountsAsNone() {
    String chosen = "A".repeat(43);
    handle(hello("s3cret", chosen));
    Welcome first = (Welcome) link.taken().get(0);
    assertThat(first.getResume()).isNotEqualTo(chosen).hasSize(43);
    assertThat(first.getProducer()).isNotEqualTo(Resume.producer(chosen, Principal.UNKNOWN));
    assertThat(first.getProducer())
        .isEqualTo(Resume.producer(first.getResume(), Principal.UNKNOWN));
    assertThat(bus.counters.resumesRejected.sum()).isEqualTo(1);
    FakeLink other = new FakeLink();
    Session second = other.session(context);
    handle(second, hello("s3cret", chosen), 0);
    Welcome again = (Welcome) other.taken().get(0);
    assertThat(again.getProducer()).isNotEqualTo(first.getProducer());
    assertThat(link.closed).as("nobody is replaced by it").isEmpty();
    assertThat(bus.sessions.after(0)).containsExactly(session, second);
    assertThat(bus.counters.resumesRejected.sum()).isEqualTo(2);
    // Its replacement is as good as any.
    Session third = new FakeLink().session(context);
    handle(third, hello("s3cret", first.getResume()), 0);
    assertThat(third.producer()).isEqualTo(first.getProducer());
    assertClosed(CloseReason.REPLACED);
    assertThat(bus.counters.resumesRejected.sum()).isEqualTo(2);
    third.onClosed();
    second.onClosed();
  }

  @Test
  void aResumeOfAnotherKeyTakesNobodysPlace() {
    Welcome first = welcome();
    String foreign =
        ResumeKey.ofThisRun().create(new SecureRandom(), Principal.UNKNOWN, number -> true);
    Session second = new FakeLink().session(context);
    handle(second, hello("s3cret", foreign), 0);
    assertThat(second.producer())
        .isNotEqualTo(Resume.producer(foreign, Principal.UNKNOWN))
        .isNotEqualTo(first.getProducer());
    assertThat(link.closed).isEmpty();
    second.onClosed();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "A",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAä"
      })
  void aResumeThatNoBusGaveIsRefused(String resume) {
    handle(hello("s3cret", resume));
    assertThat(problem(ErrorCode.UNAUTHENTICATED, TypeCode.HELLO, 0, "").getMessage())
        .contains("Welcome.resume");
    assertClosed(CloseReason.UNAUTHENTICATED);
    assertThat(session.isWelcomed()).isFalse();
  }

  @Test
  void aWrongTokenIsRefusedAndNotRepeated() {
    handle(hello("guess", null));
    assertThat(problem(ErrorCode.UNAUTHENTICATED, TypeCode.HELLO, 0, "").getMessage())
        .contains("the credentials in Hello")
        .doesNotContain("guess")
        .doesNotContain("s3cret");
    assertClosed(CloseReason.UNAUTHENTICATED);
  }

  @Test
  void noTokenIsRefused() {
    handle(hello(null, null));
    problem(ErrorCode.UNAUTHENTICATED, TypeCode.HELLO, 0, "");
    assertClosed(CloseReason.UNAUTHENTICATED);
  }

  @Test
  void aBusWithoutATokenLetsEverybodyIn() {
    FakeLink open = new FakeLink();
    Session free = open.session(bus.context(TestAccess.token(null)));
    handle(free, hello("whatever", null), 0);
    assertThat(open.taken()).first().isInstanceOf(Welcome.class);
    free.onClosed();
  }

  @Test
  void theFirstFrameMustBeHello() {
    handle(subscribe(1, "a", null), hello("s3cret", null));
    assertThat(problem(ErrorCode.PROTOCOL_VIOLATION, TypeCode.SUBSCRIBE, 0, "").getMessage())
        .contains("expected: 0, Hello");
    assertClosed(CloseReason.PROTOCOL_ERROR);
    assertThat(session.isWelcomed()).as("what follows is not handled").isFalse();
  }

  @Test
  void aSecondHelloEndsIt() {
    welcome();
    handle(hello("s3cret", null));
    problem(ErrorCode.PROTOCOL_VIOLATION, TypeCode.HELLO, 0, "");
    assertClosed(CloseReason.PROTOCOL_ERROR);
    assertThat(bus.sessions.find(1)).isNull();
  }

  @Test
  void aHelloThatIsTooLongEndsIt() {
    handle(
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello("c".repeat(256), "a", "s3cret", null, Map.of(), null, null, null)));
    problem(ErrorCode.TOO_BIG, TypeCode.HELLO, 0, "");
    assertClosed(CloseReason.TOO_BIG);
  }

  @Test
  void anEchoIsNotTheFirstFrame() {
    handle(ControlFrames.encode(TypeCode.ECHO, new Echo(7L)));
    problem(ErrorCode.PROTOCOL_VIOLATION, TypeCode.ECHO, 0, "");
    assertClosed(CloseReason.PROTOCOL_ERROR);
  }

  @Test
  void reportsConnectsAndDisconnectsToObservers() {
    List<Advisory> told = new ArrayList<>();
    bus.advisories.listen(told::add);
    handle(hello("wrong", null));
    session.onClosed();
    assertThat(told).as("not let in").isEmpty();
    FakeLink other = new FakeLink();
    Session welcomed = other.session(context);
    byte[] hello = hello("s3cret", null);
    welcomed.onMessage(ByteBuffer.wrap(hello), 0, hello.length, 1, () -> {});
    Advisory.ClientConnected connected =
        new Advisory.ClientConnected(
            1, other.remoteAddress(), welcomed.id(), "client", "agent/1", "", "", "shared_token");
    assertThat(told).containsExactly(connected);
    byte[] publish = SampleFrames.publish("t", 1, false, "x", "y");
    welcomed.onMessage(ByteBuffer.wrap(publish), 0, publish.length, 2, () -> {});
    welcomed.onClosed();
    welcomed.onClosed();
    assertThat(told)
        .containsExactly(
            connected,
            new Advisory.ClientDisconnected(
                1, other.remoteAddress(), welcomed.id(), "client", "", NOW, 2, other.delivered()));
  }

  @Test
  void attributesAreTheBussMemoryWhileTheSessionLives() {
    Map<String, String> attributes = Map.of("zone", "eu-1", "rack", "é".repeat(100));
    handle(
        ControlFrames.encode(
            TypeCode.HELLO, new Hello("c", "a", "s3cret", null, attributes, null, null, null)));
    assertThat(session.identity().attributes()).isEqualTo(attributes);
    assertThat(bus.memory.used()).isBetween(300L, 600L);
  }

  @Test
  void aSessionThatWasNeverWelcomedEndsToo() {
    session.onClosed();
    session.onClosed();
    byte[] late = hello("s3cret", null);
    assertThat(handle(session, late, 0)).isEqualTo(late.length);
    assertThat(session.isWelcomed()).isFalse();
  }
}
