package io.eventbus.server.security.jwt;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.config.JwtConfig.ClaimPaths;
import io.eventbus.server.samples.TestClock;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FailedLogin;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.LoginOutcome;
import io.eventbus.server.security.RevocationList;
import io.eventbus.server.security.Revocations;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.NumericDate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class JwtLoginTest {
  private final TestClock clock = Tokens.clock();
  private final FakeKeys keys = new FakeKeys();
  private final Revocations revocations = new Revocations();
  private final JwtLogin login =
      new JwtLogin(
          new JwtVerifier(Tokens.ISSUER, Tokens.AUDIENCE, List.of("RS256"), ClaimPaths.NONE, clock),
          keys,
          null,
          revocations,
          clock);

  @AfterEach
  void close() {
    login.close();
  }

  private static final class FakeKeys implements TokenKeys {
    volatile List<TokenKey> keys = List.of(Tokens.key("rsa", Tokens.RSA.getPublic()));
    final AtomicInteger asked = new AtomicInteger();
    final CompletableFuture<Boolean> fetched = new CompletableFuture<>();

    @Override
    public List<TokenKey> keys() {
      return keys;
    }

    @Override
    public CompletableFuture<Boolean> lookAgain() {
      asked.incrementAndGet();
      return fetched;
    }

    @Override
    public Object version() {
      return keys;
    }
  }

  private CompletableFuture<LoginOutcome> ask(String token) {
    Credentials credentials = new Credentials(token, "a", false);
    assertThat(login.takes(credentials)).isTrue();
    return login.check(credentials);
  }

  @Test
  void takesTokensOfThreePartsWithoutAUser() {
    assertThat(login.takes(new Credentials("a.b.c", "", true))).isTrue();
    assertThat(login.takes(new Credentials("a.b", "", true))).isFalse();
    assertThat(login.takes(new Credentials("a.b.c.d.e", "", true))).isFalse();
    assertThat(login.takes(new Credentials(null, "", true))).isFalse();
    assertThat(login.takes(new Credentials("u", "a.b.c", null, "", true))).isFalse();
  }

  @Test
  void aGoodTokenIsGoodAtOnceUntilItExpires() {
    String token = Tokens.signed(Tokens.claims());
    assertThat(ask(token).join()).isInstanceOf(LoginOutcome.Proved.class);
    assertThat(ask(token)).isDone();
    clock.advance(3_599_000);
    assertThat(ask(token).join()).isInstanceOf(LoginOutcome.Proved.class);
    clock.advance(31_000);
    assertThat(ask(token).join()).isInstanceOf(LoginOutcome.Wrong.class);
  }

  @Test
  void onlyATokenThatWasGoodAndStillIsIsKnown() {
    Credentials token = new Credentials(Tokens.signed(Tokens.claims()), "", false);
    assertThat(login.known(token)).isNull();
    Identity identity = ((LoginOutcome.Proved) login.check(token).join()).identity();
    assertThat(login.known(token)).isSameAs(identity);
    revoke(Tokens.NOW + 1);
    assertThat(login.known(token)).isNull();
    revocations.replace(RevocationList.NONE);
    assertThat(login.known(token)).isSameAs(identity);
    clock.advance(3_631_000);
    assertThat(login.known(token)).isNull();
    assertThat(login.known(new Credentials("a.b.c", "", false))).isNull();
  }

  @Test
  void aTokenWhoseKeyHasGoneIsNotGoodAnyMore() {
    String token = Tokens.signed(Tokens.claims());
    assertThat(ask(token).join()).isInstanceOf(LoginOutcome.Proved.class);
    keys.keys = List.of(Tokens.key("new", Tokens.OTHER_RSA.getPublic()));
    keys.fetched.complete(true);
    assertThat(ask(token).join()).isInstanceOf(LoginOutcome.Wrong.class);
  }

  @Test
  void tokensVerifiedWithFormerKeysAreForgotten() {
    VerifiedTokens verified = new VerifiedTokens(clock);
    Identity identity =
        ((LoginOutcome.Proved) ask(Tokens.signed(Tokens.claims())).join()).identity();
    assertThat(verified.find("t", "before")).isNull();
    assertThat(verified.find("t", "now")).isNull();
    verified.add("t", identity, "before");
    assertThat(verified.find("t", "now")).isNull();
    verified.add("t", identity, "now");
    assertThat(verified.find("t", "now")).isSameAs(identity);
  }

  @Test
  void aRevokedTokenIsRefusedAlsoWhereItWasGoodBefore() {
    String token = Tokens.signed(Tokens.claims());
    JwtClaims claims = Tokens.claims();
    assertThat(ask(token).join()).isInstanceOf(LoginOutcome.Proved.class);

    revoke(Tokens.NOW);
    assertThat(ask(token).join()).as("issued then").isInstanceOf(LoginOutcome.Proved.class);
    revoke(Tokens.NOW + 1);
    LoginOutcome revoked =
        new LoginOutcome.Wrong(new FailedLogin("showed a token that was revoked", "", "u1"));
    assertThat(ask(token).join()).isEqualTo(revoked);
    claims.setIssuedAt(NumericDate.fromSeconds(Tokens.NOW + 1));
    clock.advance(1_000);
    String later = Tokens.signed(claims);
    assertThat(ask(later).join()).isInstanceOf(LoginOutcome.Proved.class);
    claims.setIssuedAt(NumericDate.fromSeconds(Tokens.NOW));
    assertThat(ask(Tokens.signed(claims)).join()).as("not seen before").isEqualTo(revoked);

    revocations.replace(RevocationList.NONE);
    assertThat(ask(token).join()).isInstanceOf(LoginOutcome.Proved.class);
  }

  private void revoke(long issuedBeforeSeconds) {
    revocations.replace(
        (account, subject, issuedAt) ->
            account.isEmpty()
                && subject.equals("u1")
                && issuedAt.getEpochSecond() < issuedBeforeSeconds);
  }

  @Test
  void aBadTokenIsNotRemembered() {
    JwtClaims claims = Tokens.claims();
    claims.setIssuer("other");
    assertThat(ask(Tokens.signed(claims)).join())
        .isEqualTo(
            new LoginOutcome.Wrong(
                new FailedLogin(
                    "showed a token that has another iss than auth.jwt.issuer", "", "u1")));
  }

  @Test
  void aLongTokenIsRefusedAtOnce() {
    CompletableFuture<LoginOutcome> answer = ask("a." + "b".repeat(8_192) + ".c");
    assertThat(answer.getNow(null)).isInstanceOf(LoginOutcome.Wrong.class);
  }

  @Test
  void aKeyThatIsNotKnownIsLookedForOnce() {
    String rotated = Tokens.signed(Tokens.claims(), "RS256", Tokens.OTHER_RSA.getPrivate(), "new");
    CompletableFuture<LoginOutcome> answer = ask(rotated);
    keys.keys = List.of(Tokens.key("new", Tokens.OTHER_RSA.getPublic()));
    keys.fetched.complete(true);
    assertThat(answer.join()).isInstanceOf(LoginOutcome.Proved.class);
    assertThat(keys.asked.get()).isLessThanOrEqualTo(1);
  }

  @Test
  void aKeyThatDoesNotExistIsWrong() {
    keys.fetched.complete(true);
    String token = Tokens.signed(Tokens.claims(), "RS256", Tokens.RSA.getPrivate(), "none");
    assertThat(ask(token).join()).isInstanceOf(LoginOutcome.Wrong.class);
    assertThat(keys.asked.get()).isEqualTo(1);
  }

  @Test
  void aKeyThatCannotBeFetchedNowIsNotWrong() {
    keys.fetched.complete(false);
    String token = Tokens.signed(Tokens.claims(), "RS256", Tokens.RSA.getPrivate(), "none");
    assertThat(ask(token).join()).isInstanceOf(LoginOutcome.Unavailable.class);
    assertThat(keys.asked.get()).isEqualTo(1);
  }

  @Test
  void onlySoManyTokensAreRemembered() {
    VerifiedTokens verified = new VerifiedTokens(clock);
    Identity identity =
        new Identity(
            "",
            "u1",
            AuthenticationMethod.JWT,
            Set.of(),
            Map.of(),
            Map.of(),
            Map.of(),
            null,
            Instant.ofEpochSecond(Tokens.NOW + 1));
    assertThat(verified.find("t0", keys)).isNull();
    for (int i = 0; i <= VerifiedTokens.MAX_TOKENS; i++) {
      verified.add("t" + i, identity, keys);
    }
    assertThat(verified.size()).isEqualTo(VerifiedTokens.MAX_TOKENS);
    assertThat(verified.find("t0", keys)).isNull();
    assertThat(verified.find("t1", keys)).isSameAs(identity);
    clock.advance(1_000);
    assertThat(verified.find("t1", keys)).isNull();
    assertThat(verified.size()).isEqualTo(VerifiedTokens.MAX_TOKENS - 1);
  }

  @Test
  void tokensWithLargeClaimsAreRememberedByWhatTheyTake() {
    VerifiedTokens verified = new VerifiedTokens(clock);
    List<String> patterns = IntStream.range(0, 1_000).mapToObj(i -> "topic" + i).toList();
    Identity identity =
        new Identity(
            "",
            "u1",
            AuthenticationMethod.JWT,
            Set.of(),
            Map.of(),
            Map.of(Action.PUBLISH, patterns),
            Map.of(),
            null,
            Instant.ofEpochSecond(Tokens.NOW + 1));
    assertThat(verified.find("t0", keys)).isNull();
    for (int i = 0; i < 1_000; i++) {
      verified.add("t" + i, identity, keys);
    }
    assertThat(verified.size()).isBetween(100, 300);
    assertThat(verified.find("t999", keys)).isSameAs(identity);
  }
}
