package io.eventbus.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.config.ClientScope;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AuthenticationChainTest {
  private static final PermissionPolicy POLICY =
      new ScopePolicy(ClientScope.NOBODY, ClientScope.NOBODY);
  private static final LoginMethod TOKEN = new SharedTokenLogin("s3cret");
  private static final String NOT_ACCEPTED =
      "the credentials in Hello are not ones that this bus accepts";

  /** Login method that takes what a test says, and answers when the test does. */
  private record Fake(
      Predicate<Credentials> takes, CompletableFuture<LoginOutcome> answer, List<Credentials> asked)
      implements LoginMethod {
    Fake(Predicate<Credentials> takes) {
      this(takes, new CompletableFuture<>(), new ArrayList<>());
    }

    @Override
    public boolean takes(Credentials credentials) {
      return takes.test(credentials);
    }

    @Override
    public CompletableFuture<LoginOutcome> check(Credentials credentials) {
      asked.add(credentials);
      return answer;
    }
  }

  private static AuthenticationChain chain(ClientScope anonymous, LoginMethod... methods) {
    return new AuthenticationChain(List.of(methods), anonymous, POLICY);
  }

  private static Credentials shown(@Nullable String user, @Nullable String token, boolean local) {
    return new Credentials(user, token, null, "a", local);
  }

  private static Authentication ask(AuthenticationChain chain, Credentials credentials) {
    Authentication answer = chain.authenticate(credentials).getNow(null);
    if (answer == null) {
      throw new AssertionError("it did not answer at once");
    }
    return answer;
  }

  private static Principal accepted(Authentication answer) {
    assertThat(answer).isInstanceOf(Authentication.Accepted.class);
    return ((Authentication.Accepted) answer).principal();
  }

  private static String refusal(Authentication answer) {
    assertThat(answer).isInstanceOf(Authentication.Refused.class);
    return ((Authentication.Refused) answer).message();
  }

  @ParameterizedTest
  @ValueSource(strings = {"S3cret", "s3cre", "s3cret ", "s3cret\0", ""})
  void onlyTheWholeTokenIsRight(String wrong) {
    AuthenticationChain chain = chain(ClientScope.EVERYONE, TOKEN);
    assertThat(accepted(ask(chain, shown(null, "s3cret", false))).method())
        .isEqualTo(AuthenticationMethod.SHARED_TOKEN);
    assertThat(ask(chain, shown(null, wrong, true)))
        .isEqualTo(new Authentication.Refused(NOT_ACCEPTED, "showed a wrong token"));
  }

  @Test
  void theTokenOfAllIsNobodysPassword() {
    assertThat(refusal(ask(chain(ClientScope.EVERYONE, TOKEN), shown("alice", "s3cret", true))))
        .isEqualTo(NOT_ACCEPTED);
  }

  @ParameterizedTest
  @CsvSource({
    "EVERYONE, false, true",
    "EVERYONE, true, true",
    "LOOPBACK, false, false",
    "LOOPBACK, true, true",
    "NOBODY, false, false",
    "NOBODY, true, false"
  })
  void aClientWithoutCredentialsIsAnonymous(ClientScope anonymous, boolean local, boolean let) {
    for (AuthenticationChain chain : List.of(chain(anonymous), chain(anonymous, TOKEN))) {
      Authentication answer = ask(chain, shown(null, null, local));
      if (let) {
        assertThat(accepted(answer).method()).isEqualTo(AuthenticationMethod.NONE);
      } else {
        assertThat(refusal(answer)).isNotEqualTo(NOT_ACCEPTED);
      }
    }
  }

  @Test
  void aBusThatIsNotConfiguredSaysWithWhichKeysItServesOthers() {
    assertThat(refusal(ask(chain(ClientScope.LOOPBACK), shown(null, null, false))))
        .contains("auth.anonymous=everyone", "auth.token", "auth.users-file");
    assertThat(refusal(ask(chain(ClientScope.LOOPBACK, TOKEN), shown(null, null, false))))
        .contains("Hello.token")
        .doesNotContain("auth.anonymous");
  }

  @Test
  void aBusThatAuthenticatesNobodyDoesNotLookAtTokens() {
    Principal principal = accepted(ask(chain(ClientScope.EVERYONE), shown("u", "any", false)));
    assertThat(principal.method()).isEqualTo(AuthenticationMethod.NONE);
    assertThat(principal.account()).isEmpty();
    assertThat(principal.subject()).isEmpty();
    assertThat(principal.expiresAt()).isNull();
  }

  @Test
  void theFirstMethodThatTakesThemDecides() {
    Fake never = new Fake(credentials -> false);
    Fake first = new Fake(credentials -> true);
    Fake second = new Fake(credentials -> true);
    CompletableFuture<Authentication> answer =
        chain(ClientScope.EVERYONE, never, first, second, TOKEN)
            .authenticate(shown(null, "s3cret", true));
    assertThat(answer).isNotDone();
    first.answer().complete(new LoginOutcome.Wrong("showed an expired token"));
    assertThat(answer)
        .isCompletedWithValue(new Authentication.Refused(NOT_ACCEPTED, "showed an expired token"));
    assertThat(never.asked()).isEmpty();
    assertThat(second.asked()).isEmpty();
  }

  @Test
  void provedIdentitiesGetPermissionsFromThePolicy() {
    Instant issued = Instant.ofEpochSecond(900);
    Instant expires = Instant.ofEpochSecond(1_000);
    Identity identity =
        new Identity(
            "acme",
            "u1",
            AuthenticationMethod.JWT,
            Set.of("trader"),
            Map.of(),
            Map.of(),
            Map.of(),
            issued,
            expires);
    List<Identity> asked = new ArrayList<>();
    Permissions permissions = new Permissions(Map.of());
    Fake method = new Fake(credentials -> true);
    CompletableFuture<Authentication> answer =
        new AuthenticationChain(
                List.of(method),
                ClientScope.NOBODY,
                (who, credentials) -> {
                  asked.add(who);
                  return permissions;
                })
            .authenticate(shown(null, "t", false));
    method.answer().complete(new LoginOutcome.Proved(identity));
    assertThat(asked).containsExactly(identity);
    assertThat(accepted(answer.join()))
        .isEqualTo(
            new Principal("acme", "u1", AuthenticationMethod.JWT, permissions, issued, expires));
  }

  @Test
  void uncheckedCredentialsAreNotWrong() {
    Fake method = new Fake(credentials -> true);
    method.answer().complete(new LoginOutcome.Unavailable("there are no keys"));
    assertThat(ask(chain(ClientScope.EVERYONE, method), shown(null, "t", false)))
        .isEqualTo(new Authentication.Unavailable(Authentications.RECONNECT, "there are no keys"));
  }

  @Test
  void abandonedCredentialsAreNotChecked() {
    Fake method = new Fake(credentials -> true);
    chain(ClientScope.EVERYONE, method).authenticate(shown(null, "t", false)).cancel(false);
    assertThat(method.answer()).isCancelled();
  }

  @Test
  void secretsAreNeverPrinted() {
    assertThat(new Credentials("u", "s3cret", null, "a", true))
        .hasToString("Credentials[user=u, token=***, certificate=none, client=a, local=true]");
    assertThat(new Credentials(null, "", false))
        .hasToString("Credentials[user=null, token=none, certificate=none, client=, local=false]");
  }
}
