package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ask;
import io.eventbus.schema.Authenticate;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Told;
import io.eventbus.server.durable.FakeJournals;
import io.eventbus.server.samples.FakeAuthenticator;
import io.eventbus.server.samples.SampleRules;
import io.eventbus.server.samples.TestClock;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Authentication;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Principal;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Consumers and questions of clients that may not read everything. */
class ConsumerPermissionsTest {
  private static final long NOW = 77;

  private final FakeAuthenticator authenticator = new FakeAuthenticator();
  private final TestClock clock = new TestClock(1_000_000);
  private final SessionFixture bus =
      new SessionFixture(clock, new Authentications(authenticator)).withJournals();
  private final FakeLink link = new FakeLink();
  private final Session session = link.session(bus.context());

  @BeforeEach
  void admit() {
    link.address = "client";
    for (String name : List.of("acme/orders", "other/orders")) {
      var unused =
          Objects.requireNonNull(bus.journals)
              .create(
                  new JournalDefinition(
                      name,
                      List.of(TopicFilter.parse("orders.>")),
                      KeepPolicy.ALL,
                      Retention.UNLIMITED,
                      FullPolicy.DROP_OLD));
    }
    byte[] hello =
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello("client", "agent/1", "old", null, Map.of(), null, null, null));
    int unused = session.onMessage(ByteBuffer.wrap(hello), 0, hello.length, NOW, () -> {});
    authenticator.last().complete(client("orders.eu"));
    handle(hello);
    assertThat(link.taken()).hasSize(1);
  }

  @AfterEach
  void assertNoLeaks() {
    session.onClosed();
    assertThat(bus.memory.used()).isZero();
    assertThat(link.addressBytes).isZero();
  }

  private Authentication.Accepted client(String allowed) {
    Authentication.Accepted all =
        (Authentication.Accepted)
            FakeAuthenticator.accepted(
                Map.of(
                    Action.SUBSCRIBE,
                    SampleRules.of(List.of(TopicFilter.parse(allowed)), List.of(), "role r"),
                    Action.PUBLISH,
                    SampleRules.of(List.of(TopicFilter.parse("orders.us")), List.of(), "role r")));
    return new Authentication.Accepted(
        new Principal(
            "acme",
            "u1",
            AuthenticationMethod.JWT,
            all.principal().permissions(),
            null,
            clock.instant().plusSeconds(60)));
  }

  private void handle(byte[] frame) {
    bus.context().budget().renew();
    assertThat(session.onMessage(ByteBuffer.wrap(frame), 0, frame.length, NOW, () -> {}))
        .isEqualTo(frame.length);
    bus.reads.run();
  }

  private void consume(long id, String filter) {
    handle(
        ControlFrames.encode(
            TypeCode.CONSUME,
            new Consume(
                id,
                filter,
                "",
                "",
                ConsumeMode.EXCLUSIVE,
                ConsumeStart.NEW,
                0L,
                1L << 20,
                0L,
                ConsumeStart.UNKNOWN,
                0L,
                0,
                0,
                0)));
  }

  private void ask(String journal, String topic) {
    handle(ControlFrames.encode(TypeCode.ASK, new Ask(7L, journal, topic, "", 0L)));
  }

  private void refused(ErrorCode code, TypeCode type) {
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(1).first().isInstanceOf(Problem.class);
    Problem problem = (Problem) sent.get(0);
    assertThat(problem.getCode()).isEqualTo(code);
    assertThat(problem.getTypeCode()).isEqualTo(type.code());
  }

  @Test
  void aConsumerNeedsWhatASubscriberNeeds() {
    consume(1, "orders.us");
    refused(ErrorCode.FORBIDDEN, TypeCode.CONSUME);
    consume(1, "orders.>");
    refused(ErrorCode.FORBIDDEN, TypeCode.CONSUME);
    consume(1, "orders.eu");
    assertThat(link.taken())
        .as("the journal of the client's account")
        .hasSize(2)
        .first()
        .isEqualTo(
            new Confirm(
                TypeCode.CONSUME.code(),
                1L,
                "orders",
                -1L,
                0L,
                false,
                FakeJournals.FIRST_CREATION));
  }

  @Test
  void aNewTokenEndsWhatItDoesNotAllow() {
    consume(1, "orders.eu");
    assertThat(link.taken()).hasSize(2);
    handle(ControlFrames.encode(TypeCode.AUTHENTICATE, new Authenticate("new", null)));
    authenticator.last().complete(client("orders.us"));
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(2);
    Problem problem = (Problem) sent.get(0);
    assertThat(problem.getCode()).isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(problem.getTypeCode()).isEqualTo(TypeCode.CONSUME.code());
    assertThat(problem.getAbout()).isEqualTo(1);
    assertThat(sent.get(1)).as("the answer to the token").isInstanceOf(Confirm.class);
    consume(1, "orders.us");
    assertThat(link.taken()).as("the id is free").hasSize(2);
  }

  @Test
  void aQuestionNeedsAPermissionOrAConsumer() {
    ask("", "orders.eu");
    assertThat(link.taken()).hasSize(1).first().isInstanceOf(Told.class);
    ask("", "orders.us");
    assertThat(link.taken()).as("a publisher").hasSize(1).first().isInstanceOf(Told.class);
    ask("", "orders.cn");
    refused(ErrorCode.FORBIDDEN, TypeCode.ASK);
    ask("orders", "");
    refused(ErrorCode.FORBIDDEN, TypeCode.ASK);
    consume(1, "orders.eu");
    assertThat(link.taken()).hasSize(2);
    ask("orders", "");
    assertThat(link.taken()).hasSize(1).first().isInstanceOf(Told.class);
  }
}
