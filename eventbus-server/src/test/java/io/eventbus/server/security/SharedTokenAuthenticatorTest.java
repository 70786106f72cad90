package io.eventbus.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.config.ClientScope;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SharedTokenAuthenticatorTest {
  private static final TopicFilter PLAIN = TopicFilter.parse("a.>");
  private static final TopicFilter SYSTEM = TopicFilter.parse("$SYS.>");

  private static Authentication ask(
      SharedTokenAuthenticator authenticator, @Nullable String token, boolean local) {
    Authentication answer =
        authenticator.authenticate(new Credentials(token, "a", local)).getNow(null);
    if (answer == null) {
      throw new AssertionError("it did not answer at once");
    }
    return answer;
  }

  private static Principal accepted(
      SharedTokenAuthenticator authenticator, @Nullable String token, boolean local) {
    assertThat(ask(authenticator, token, local)).isInstanceOf(Authentication.Accepted.class);
    return ((Authentication.Accepted) ask(authenticator, token, local)).principal();
  }

  private static SharedTokenAuthenticator expecting(@Nullable String token) {
    return new SharedTokenAuthenticator(token, ClientScope.NOBODY, ClientScope.EVERYONE);
  }

  @Test
  void withoutATokenEverybodyIsLetIn() {
    SharedTokenAuthenticator open = expecting(null);
    Principal principal = accepted(open, "any", false);
    assertThat(principal.method()).isEqualTo(AuthenticationMethod.NONE);
    assertThat(principal.account()).isEmpty();
    assertThat(principal.subject()).isEmpty();
    assertThat(principal.expiresAt()).isNull();
    assertThat(accepted(open, null, false)).isSameAs(principal);
  }

  @ParameterizedTest
  @ValueSource(strings = {"S3cret", "s3cre", "s3cret ", "s3cret\0", ""})
  void onlyTheWholeTokenIsRight(String wrong) {
    assertThat(accepted(expecting("s3cret"), "s3cret", false).method())
        .isEqualTo(AuthenticationMethod.SHARED_TOKEN);
    assertThat(ask(expecting("s3cret"), wrong, true))
        .isEqualTo(
            new Authentication.Refused(
                "the token in Hello.token is not the one that this bus expects",
                "showed no token or a wrong one"));
  }

  @Test
  void noTokenIsRefusedWithAnotherText() {
    assertThat(ask(expecting("s3cret"), null, true))
        .isEqualTo(
            new Authentication.Refused(
                "this bus wants a token in Hello.token; there was none",
                "showed no token or a wrong one"));
  }

  @ParameterizedTest
  @CsvSource({
    // scope, whether there is a token, whether the client is local, whether it may
    "EVERYONE, false, false, true",
    "LOOPBACK, false, false, false",
    "LOOPBACK, false, true, true",
    "LOOPBACK, true, false, true",
    "NOBODY, true, true, false"
  })
  void whoMayHoldPublishersBack(ClientScope scope, boolean token, boolean local, boolean may) {
    String secret = token ? "s3cret" : null;
    Permissions permissions =
        accepted(new SharedTokenAuthenticator(secret, ClientScope.NOBODY, scope), secret, local)
            .permissions();
    assertThat(permissions.of(Action.BLOCK).allows(PLAIN)).isEqualTo(may);
    assertThat(permissions.of(Action.BLOCK).origin())
        .isEqualTo("auth.block=" + scope.name().toLowerCase(Locale.ROOT));
  }

  /** A token does not make a client one of this machine. */
  @ParameterizedTest
  @CsvSource({
    "EVERYONE, false, true",
    "LOOPBACK, true, true",
    "LOOPBACK, false, false",
    "NOBODY, true, false"
  })
  void everythingIsAllowedButTheSystemsTopics(ClientScope observe, boolean local, boolean may) {
    Permissions permissions =
        accepted(
                new SharedTokenAuthenticator("s3cret", observe, ClientScope.EVERYONE),
                "s3cret",
                local)
            .permissions();
    assertThat(permissions.of(Action.PUBLISH).allowEverything()).isTrue();
    assertThat(permissions.of(Action.SUBSCRIBE).allowEverything()).isTrue();
    assertThat(permissions.of(Action.OBSERVE).allows(SYSTEM)).isEqualTo(may);
    assertThat(permissions.of(Action.OBSERVE).origin())
        .isEqualTo("auth.observe=" + observe.name().toLowerCase(Locale.ROOT));
  }

  @Test
  void aTokenIsNeverPrinted() {
    assertThat(new Credentials("s3cret", "a", true))
        .hasToString("Credentials[token=***, client=a, local=true]");
    assertThat(new Credentials(null, "", false))
        .hasToString("Credentials[token=none, client=, local=false]");
  }
}
