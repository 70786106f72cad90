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
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.config.ClientQuotas;
import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.quota.QuotaAccounts;
import io.eventbus.server.samples.FakeAuthenticator;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.security.Authentication;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Principal;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Clients of several accounts at one bus. */
class SessionAccountsTest {
  private static final int MAX = 2;

  private final List<Client> all = new ArrayList<>();
  private String account = "";
  private ClientQuotas quotas = ClientQuotas.NONE;
  private final SessionFixture bus =
      new SessionFixture(
              Clock.systemUTC(),
              new Authentications(credentials -> CompletableFuture.completedFuture(accepted())))
          .config(Map.of("limits.accounts", String.valueOf(MAX)))
          .quotas(new QuotaAccounts(new Advisories(), () -> 7))
          .budget(new WorkBudget(() -> 7));
  private final LoopContext context = bus.context();

  private Authentication accepted() {
    Principal everything = ((Authentication.Accepted) FakeAuthenticator.everything()).principal();
    return new Authentication.Accepted(
        new Principal(
            account, "u", AuthenticationMethod.JWT, everything.permissions(), quotas, null, null));
  }

  @AfterEach
  void assertNoLeaks() {
    all.forEach(client -> client.session.onClosed());
    assertThat(bus.index.accounts().served()).isZero();
    assertThat(bus.index.accounts().list("", 9)).isEmpty();
    assertThat(bus.index.accounts().subscriptions()).isZero();
    assertThat(bus.index.bytes()).isZero();
  }

  /** Client of an account with its received frames. */
  private final class Client {
    final FakeLink link = new FakeLink();
    final Session session = link.session(context);

    Client(String of) {
      this(of, null);
    }

    Client(String of, @Nullable String resume) {
      all.add(this);
      account = of;
      say(
          ControlFrames.encode(
              TypeCode.HELLO, new Hello("c", "a/1", "t", resume, Map.of(), null, null, null)));
    }

    void say(byte[] frame) {
      context.budget().renew();
      session.onMessage(ByteBuffer.wrap(frame), 0, frame.length, 7, () -> {});
    }

    void subscribe(String filter, @Nullable String group) {
      say(
          ControlFrames.encode(
              TypeCode.SUBSCRIBE, new Subscribe(1L, filter, group, Overflow.BLOCK)));
    }
  }

  @Test
  void theSameTopicOfTwoAccountsIsTwo() {
    List<Client> clients = new ArrayList<>();
    for (String each : List.of("", "a", "b")) {
      Client client = new Client(each);
      client.subscribe("t.*", each.equals("b") ? "g" : null);
      client.link.taken();
      clients.add(client);
    }
    for (int from = 0; from < clients.size(); from++) {
      clients.get(from).say(SampleFrames.publish("t.x", 1, false, "x"));
      for (int at = 0; at < clients.size(); at++) {
        List<?> got = clients.get(at).link.got;
        assertThat(got).as("%s to %s", from, at).hasSize(at == from ? 1 : 0);
        got.clear();
      }
    }
    assertThat(bus.index.size()).isEqualTo(1);
    assertThat(bus.index.accounts().subscriptions()).isEqualTo(3);
    assertThat(context.router().topics()).hasSize(3);
  }

  @Test
  void rejectsAnAccountTooManyUntilAnotherHasGone() {
    new Client("");
    Client first = new Client("a");
    new Client("b");
    new Client("b");
    Client third = new Client("c");
    Problem problem = (Problem) third.link.taken().get(0);
    assertThat(problem.getCode()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
    assertThat(problem.getRetryable()).isTrue();
    assertThat(problem.getMessage())
        .isEqualTo(
            "the bus has clients of 2 accounts, and none of this client's (expected: at most 2,"
                + " limits.accounts); try again later, or another bus");
    assertThat(third.link.closed.get(0).reason()).isEqualTo(CloseReason.OVERLOADED);
    assertThat(third.session.isWelcomed()).isFalse();
    first.session.onClosed();
    assertThat(bus.index.accounts().find("a")).isNull();
    assertThat(new Client("c").session.isWelcomed()).isTrue();
  }

  @Test
  void aClientRefusedByItsQuotaKeepsNoAccount() {
    quotas = new ClientQuotas(Quotas.NONE, new Quotas(Map.of(Quota.CONNECTIONS, 1L)));
    Client only = new Client("a");
    Client more = new Client("a");
    assertThat(more.session.isWelcomed()).isFalse();
    only.session.onClosed();
    assertThat(bus.index.accounts().find("a")).isNull();
  }

  @Test
  void aResumeOfAnotherAccountIsAnotherProducer() {
    Client first = new Client("a");
    Welcome welcome = (Welcome) first.link.taken().get(0);
    Client thief = new Client("b", welcome.getResume());
    assertThat(thief.session.producer()).isNotEqualTo(first.session.producer());
    assertThat(first.link.closed).as("it is not replaced").isEmpty();
    assertThat(bus.sessions.replace(first.session.id(), thief.session.producer())).isFalse();
    String token =
        bus.sessions
            .tokens()
            .issue(
                new MoveTokens.Grant(first.session.producer(), "bus-b", 1), Duration.ofMinutes(1));
    MoveTokens.Redeemed redeemed =
        bus.sessions.tokens().redeem(Objects.requireNonNull(token), thief.session.producer());
    assertThat(redeemed.refusal()).isEqualTo("Hello.change is another client's");
  }
}
