package io.eventbus.server.security.jwt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.eventbus.server.config.JwtConfig.ClaimPaths;
import io.eventbus.server.config.Quota;
import io.eventbus.server.samples.TestClock;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Identity;
import java.nio.charset.StandardCharsets;
import java.security.Signature;
import java.time.Instant;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import javax.crypto.spec.SecretKeySpec;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.NumericDate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JwtVerifierTest {
  private static final List<String> ALGORITHMS =
      List.of("HS256", "RS256", "PS256", "ES256", "EdDSA");
  private static final TokenKey KEY = Tokens.key("rsa", Tokens.RSA.getPublic());

  private final TestClock clock = Tokens.clock();

  private TokenVerdict verdict(String token, TokenKey... keys) {
    return new JwtVerifier(Tokens.ISSUER, Tokens.AUDIENCE, ALGORITHMS, ClaimPaths.NONE, clock)
        .verify(token, List.of(keys));
  }

  private void good(String token, TokenKey... keys) {
    assertThat(verdict(token, keys)).isInstanceOf(TokenVerdict.Good.class);
  }

  private void bad(String reason, String token, TokenKey... keys) {
    assertThat(((TokenVerdict.Bad) verdict(token, keys)).reason())
        .isEqualTo("showed a token that " + reason);
  }

  private static String with(Consumer<JwtClaims> change) {
    JwtClaims claims = Tokens.claims();
    change.accept(claims);
    return Tokens.signed(claims);
  }

  private void badClaims(String reason, Consumer<JwtClaims> change) {
    bad(reason, with(change), KEY);
  }

  private static NumericDate at(long seconds) {
    return NumericDate.fromSeconds(Tokens.NOW + seconds);
  }

  /** The signature vouches for the name. */
  @Test
  void aBadTokenTellsItsSubjectOnlyWhereTheSignatureIsRight() {
    assertThat(badSubject(with(c -> c.setAudience("other")))).isEqualTo("u1");
    assertThat(badSubject(with(c -> c.setExpirationTime(at(-3600))))).isEqualTo("u1");
    assertThat(badSubject(with(c -> c.setClaim("eventbus", "no object")))).isEqualTo("u1");
    assertThat(badSubject(with(c -> c.setSubject("a\nb")))).isEmpty();
    String token = with(c -> c.setAudience("other"));
    String signature = token.substring(token.lastIndexOf('.') + 1);
    assertThat(badSubject(Tokens.signed(Tokens.claims()).replaceFirst("[^.]*$", signature)))
        .isEmpty();
  }

  private String badSubject(String token) {
    return ((TokenVerdict.Bad) verdict(token, KEY)).subject();
  }

  @Test
  void aTokenHasOneSpelling() {
    String reason = "is not written in base64url without padding";
    String token = Tokens.signed(Tokens.claims());
    good(token, KEY);
    int inSignature = token.lastIndexOf('.') + 5;
    for (String other :
        List.of(
            token + "=",
            token + "====",
            token + "!!!!",
            token + " ",
            token.substring(0, inSignature) + " " + token.substring(inSignature),
            token.substring(0, inSignature) + "\n" + token.substring(inSignature),
            // 2048 bits leave four spare bits in the last character.
            token.substring(0, token.length() - 1)
                + (char) (token.charAt(token.length() - 1) + 1))) {
      bad(reason, other, KEY);
    }
  }

  @Test
  void everyKindOfKeyHasItsAlgorithms() {
    good(Tokens.signed(Tokens.claims()), KEY);
    good(Tokens.signed(Tokens.claims(), "PS256", Tokens.RSA.getPrivate(), "rsa"), KEY);
    good(
        Tokens.signed(Tokens.claims(), "ES256", Tokens.EC.getPrivate(), null),
        Tokens.key(null, Tokens.EC.getPublic()));
    good(
        Tokens.signed(Tokens.claims(), "EdDSA", Tokens.EDWARDS.getPrivate(), "e"),
        Tokens.key("e", Tokens.EDWARDS.getPublic()));
    SecretKeySpec secret = new SecretKeySpec(new byte[32], "HmacSHA256");
    good(Tokens.signed(Tokens.claims(), "HS256", secret, null), Tokens.key(null, secret));
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "None", "NONE", ""})
  void noneIsNoAlgorithm(String algorithm) {
    String token =
        Tokens.base64("{\"alg\":\"" + algorithm + "\"}")
            + "."
            + Tokens.base64(Tokens.claims().toJson())
            + ".";
    bad("has an algorithm that is not in auth.jwt.algorithms", token, KEY);
  }

  /** Otherwise a public text would be the secret. */
  @Test
  void aPublicKeyIsNoSecret() {
    SecretKeySpec publicBytes =
        new SecretKeySpec(Tokens.RSA.getPublic().getEncoded(), "HmacSHA256");
    String token = Tokens.signed(Tokens.claims(), "HS256", publicBytes, "rsa");
    bad("has an algorithm that does not fit the key that it names", token, KEY);
    String nameless = Tokens.signed(Tokens.claims(), "HS256", publicBytes, null);
    assertThat(verdict(nameless, KEY)).isInstanceOf(TokenVerdict.UnknownKey.class);
  }

  @Test
  void anAlgorithmThatIsNotConfiguredIsRefused() {
    bad(
        "has an algorithm that is not in auth.jwt.algorithms",
        Tokens.signed(Tokens.claims(), "RS512", Tokens.RSA.getPrivate(), "rsa"),
        KEY);
  }

  @Test
  void aKeyForOneAlgorithmIsForNoOther() {
    TokenKey onlyPs = new TokenKey("rsa", KeyKind.RSA, "PS256", Tokens.RSA.getPublic());
    bad(
        "has an algorithm that does not fit the key that it names",
        Tokens.signed(Tokens.claims()),
        onlyPs);
  }

  @Test
  void theSignatureCounts() {
    bad(
        "has a wrong signature",
        Tokens.signed(Tokens.claims(), "RS256", Tokens.OTHER_RSA.getPrivate(), "rsa"),
        KEY);
    String token = Tokens.signed(Tokens.claims());
    String body = Tokens.base64(Tokens.claims().toJson().replace("u1", "root"));
    bad("has a wrong signature", token.replaceFirst("\\..*\\.", "." + body + "."), KEY);
  }

  @Test
  void severalKeysNeedAName() {
    TokenKey other = Tokens.key("other", Tokens.OTHER_RSA.getPublic());
    String nameless = Tokens.signed(Tokens.claims(), "RS256", Tokens.RSA.getPrivate(), null);
    good(nameless, KEY);
    bad(
        "names no key (expected: kid, because there are several of its type)",
        nameless,
        KEY,
        other);
    good(Tokens.signed(Tokens.claims()), KEY, other);
    assertThat(
            verdict(
                Tokens.signed(Tokens.claims(), "RS256", Tokens.RSA.getPrivate(), "third"),
                KEY,
                other))
        .isInstanceOf(TokenVerdict.UnknownKey.class);
  }

  /** A header may point to keys, which are not fetched. */
  @Test
  void aTokenBringsNoKey() {
    String header =
        "{\"alg\":\"RS256\",\"kid\":\"rsa\",\"jku\":\"http://evil.example\",\"jwk\":"
            + Tokens.set(Map.of("rsa", Tokens.OTHER_RSA)).replaceAll("^.*\\[|].*$", "")
            + "}";
    String token = Tokens.signed(Tokens.claims(), "RS256", Tokens.OTHER_RSA.getPrivate(), "rsa");
    bad("has a wrong signature", token.replaceFirst("^[^.]*", Tokens.base64(header)), KEY);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "a.b", "a.b.c.d", "a.b.c.d.e", "...."})
  void tokensWithoutThreePartsAreNotVerified(String token) {
    bad("has more than 8192 characters, or not three parts", token, KEY);
  }

  @Test
  void textsThatAreNoTokensAreRefused() {
    bad("cannot be read", "..", KEY);
    bad("cannot be read", "a.b.AA", KEY);
    bad("cannot be read", Tokens.base64("[]") + ".e30.AA", KEY);
    bad("cannot be read", Tokens.base64("{".repeat(5_000)) + ".e30.AA", KEY);
    bad("has more than 8192 characters, or not three parts", "a".repeat(8_193) + "..", KEY);
    // Unsigned extensions that this bus does not understand.
    String header = Tokens.base64("{\"alg\":\"RS256\",\"kid\":\"rsa\",\"crit\":[\"x\"],\"x\":1}");
    bad(
        "has crit, of which the bus knows no extension",
        Tokens.signed(Tokens.claims()).replaceFirst("^[^.]*", header),
        KEY);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "`\"crit\":[]`, `has crit, of which the bus knows no extension`",
        "`\"typ\":\"dpop+jwt\"`, has a typ of another kind than JWT or at+jwt",
        "`\"typ\":1`, has a typ of another kind than JWT or at+jwt",
        "`\"typ\":\"JWT\"`,",
        "`\"typ\":\"application/at+jwt\"`,"
      })
  void aHeaderSaysWhatTheTokenIsFor(String member, @Nullable String reason) throws Exception {
    String head =
        Tokens.base64("{\"alg\":\"RS256\",\"kid\":\"rsa\"," + member + "}")
            + "."
            + Tokens.base64(Tokens.claims().toJson());
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initSign(Tokens.RSA.getPrivate());
    signature.update(head.getBytes(StandardCharsets.US_ASCII));
    String token =
        head + "." + Base64.getUrlEncoder().withoutPadding().encodeToString(signature.sign());
    if (reason == null) {
      good(token, KEY);
    } else {
      bad(reason, token, KEY);
    }
  }

  /** The difference of two times, or one in milliseconds, does not fit. */
  @Test
  void timesThatCannotBeAreRefused() {
    for (long time : new long[] {Long.MIN_VALUE, Long.MIN_VALUE / 1_000, -1}) {
      badClaims("has an exp or iat before 1970", c -> c.setClaim("iat", time));
    }
    badClaims("expires more than 24 hours from now", c -> c.setClaim("exp", Long.MAX_VALUE));
  }

  @Test
  void issuerAudienceAndSubjectAreNeeded() {
    badClaims("has no iss", c -> c.unsetClaim("iss"));
    badClaims("has another iss than auth.jwt.issuer", c -> c.setIssuer("https://evil.example"));
    badClaims("has no aud", c -> c.unsetClaim("aud"));
    badClaims("has no aud that is auth.jwt.audience", c -> c.setAudience("other", "buss"));
    good(with(c -> c.setAudience("other", Tokens.AUDIENCE)), KEY);
    badClaims("has no sub", c -> c.unsetClaim("sub"));
    badClaims("has a sub that is no name", c -> c.setSubject("a\0b"));
    badClaims("has a sub that is no name", c -> c.setSubject("x".repeat(257)));
  }

  private static void expires(JwtClaims claims, long seconds) {
    claims.setIssuedAt(at(-3_600));
    claims.setExpirationTime(at(seconds));
  }

  @Test
  void timesHoldWithinThirtySeconds() {
    badClaims("has no exp", c -> c.unsetClaim("exp"));
    badClaims("has expired", c -> expires(c, -30));
    good(with(c -> expires(c, -29)), KEY);
    badClaims("is not valid yet", c -> c.setNotBefore(at(31)));
    good(with(c -> c.setNotBefore(at(30))), KEY);
    badClaims("was issued in the future", c -> c.setIssuedAt(at(31)));
    good(with(c -> c.setIssuedAt(at(30))), KEY);
  }

  @Test
  void aTokenLivesForADayAtMost() {
    good(with(c -> c.setExpirationTime(at(24 * 3_600))), KEY);
    badClaims("expires more than 24 hours from now", c -> c.setExpirationTime(at(25 * 3_600)));
    badClaims(
        "lives longer than 24 hours",
        c -> {
          c.setIssuedAt(at(-3_600));
          c.setExpirationTime(at(23 * 3_600 + 1));
        });
  }

  private Identity identity(@Nullable Object own, Consumer<JwtClaims> change) {
    TokenVerdict verdict =
        verdict(
            with(
                c -> {
                  if (own != null) {
                    c.setClaim("eventbus", own);
                  }
                  change.accept(c);
                }),
            KEY);
    assertThat(verdict).isInstanceOf(TokenVerdict.Good.class);
    return ((TokenVerdict.Good) verdict).identity();
  }

  /** A token may live longer than a revocation is kept. */
  @Test
  void aTokenSaysWhenItWasIssued() {
    badClaims("has no iat", c -> c.unsetClaim("iat"));
    assertThat(identity(null, c -> {}).issuedAt()).isEqualTo(Instant.ofEpochSecond(Tokens.NOW));
  }

  @Test
  void aTokenThatSaysLittleIsASubject() {
    Identity identity = identity(null, c -> {});
    assertThat(identity)
        .isEqualTo(
            new Identity(
                "",
                "u1",
                AuthenticationMethod.JWT,
                Set.of(),
                Map.of(),
                Map.of(),
                Map.of(),
                Instant.ofEpochSecond(Tokens.NOW),
                Instant.ofEpochSecond(Tokens.NOW + 3_600)));
  }

  @Test
  void aTokenSaysAccountRolesAndPatterns() {
    Identity identity =
        identity(
            Map.of(
                "account",
                "acme",
                "roles",
                List.of("trader", "reader"),
                "allow",
                Map.of("publish", List.of("user.{sub}.>", "a.*")),
                "deny",
                Map.of("subscribe", List.of("hr.>"), "observe", List.of()),
                "quota",
                Map.of("connections", 3, "publish-bytes", 5_000_000_000L)),
            c -> {
              c.setClaim("tenant", "eu");
              c.setClaim("level", 3);
              c.setClaim("picture", "x".repeat(257));
            });
    assertThat(identity.account()).isEqualTo("acme");
    assertThat(identity.quotas().limits())
        .isEqualTo(Map.of(Quota.CONNECTIONS, 3L, Quota.PUBLISH_BYTES, 5_000_000_000L));
    assertThat(identity.roles()).containsExactly("trader", "reader");
    assertThat(identity.allow()).isEqualTo(Map.of(Action.PUBLISH, List.of("user.{sub}.>", "a.*")));
    assertThat(identity.deny())
        .isEqualTo(Map.of(Action.SUBSCRIBE, List.of("hr.>"), Action.OBSERVE, List.of()));
    assertThat(identity.claims()).isEqualTo(Map.of("tenant", "eu"));
  }

  private Identity identity(ClaimPaths paths, Map<String, Object> claims) {
    return ((TokenVerdict.Good) verdict(paths, claims)).identity();
  }

  private TokenVerdict verdict(ClaimPaths paths, Map<String, Object> claims) {
    String token = with(shown -> claims.forEach(shown::setClaim));
    return new JwtVerifier(Tokens.ISSUER, Tokens.AUDIENCE, ALGORITHMS, paths, clock)
        .verify(token, List.of(KEY));
  }

  private String bad(ClaimPaths paths, Map<String, Object> claims) {
    return ((TokenVerdict.Bad) verdict(paths, claims)).reason();
  }

  /** Claims as Keycloak, Entra and Cognito write them, and a claim whose name is a URL. */
  @ParameterizedTest
  @ValueSource(
      strings = {"realm_access.roles", "roles", "cognito:groups", "https://example.org/roles"})
  void rolesMayBeInAnyClaim(String path) {
    List<Object> names = List.of("trader", "not a role", 7, "reader");
    Object claim = path.startsWith("realm") ? Map.of("roles", names) : names;
    String name = path.startsWith("realm") ? "realm_access" : path;
    ClaimPaths paths = new ClaimPaths(path, null);
    assertThat(identity(paths, Map.of(name, claim)).roles()).containsExactly("trader", "reader");
    assertThat(
            identity(paths, Map.of(name, claim, "eventbus", Map.of("roles", List.of("own"))))
                .roles())
        .containsExactly("own", "trader", "reader");
    assertThat(identity(paths, Map.of()).roles()).isEmpty();
    assertThat(identity(ClaimPaths.NONE, Map.of(name, claim)).roles()).isEmpty();
  }

  @Test
  void rolesMayBeATextWithBlanksBetween() {
    ClaimPaths paths = new ClaimPaths("scope", null);
    assertThat(identity(paths, Map.of("scope", " openid  trader bus:all")).roles())
        .containsExactly("openid", "trader");
    assertThat(bad(paths, Map.of("scope", Map.of())))
        .isEqualTo("showed a token that has a claim scope that is no list and no text");
    List<String> many = IntStream.range(0, 513).mapToObj(i -> "r" + i).toList();
    assertThat(bad(paths, Map.of("scope", many)))
        .isEqualTo("showed a token that has more than 512 roles in the claim scope");
    assertThat(identity(new ClaimPaths("a.b.c", null), Map.of("a", List.of())).roles()).isEmpty();
    Object app = Map.of("com.example.app", Map.of("roles", List.of("x", "y")));
    assertThat(
            identity(new ClaimPaths("access.com.example.app.roles", null), Map.of("access", app))
                .roles())
        .containsExactly("x", "y");
  }

  /** Without the claim a client would be in the default account. */
  @Test
  void theAccountMayBeInAnyClaim() {
    ClaimPaths paths = new ClaimPaths(null, "org.name");
    assertThat(identity(paths, Map.of("org", Map.of("name", "acme"))).account()).isEqualTo("acme");
    assertThat(identity(paths, Map.of("org", Map.of("name", List.of("acme")))).account())
        .isEqualTo("acme");
    for (Object wrong : List.of("", "a b", 1, List.of(), List.of("a", "b"), Map.of())) {
      assertThat(bad(paths, Map.of("org", Map.of("name", wrong))))
          .isEqualTo("showed a token that has no account in the claim org.name");
    }
    assertThat(bad(paths, Map.of()))
        .isEqualTo("showed a token that has no account in the claim org.name");
    assertThat(
            bad(
                paths,
                Map.of("org", Map.of("name", "acme"), "eventbus", Map.of("account", "other"))))
        .isEqualTo("showed a token that has another account in eventbus.account than in org.name");
  }

  private void badOwn(String reason, Object own) {
    badClaims(reason, c -> c.setClaim("eventbus", own));
  }

  @Test
  void unknownRestrictionsAreRefused() {
    badOwn("has a claim eventbus that is no object", List.of());
    badOwn("has an unknown member in the claim eventbus", Map.of("denny", Map.of()));
    badOwn("has a claim eventbus.account that is no account", Map.of("account", "a b"));
    badOwn("has a claim eventbus.account that is no account", Map.of("account", 1));
    badOwn("has a claim eventbus.roles with what is no role", Map.of("roles", List.of("")));
    badOwn("has a claim eventbus.roles that is no list of at most 64", Map.of("roles", "admin"));
    badOwn(
        "has a claim eventbus.deny with an unknown action",
        Map.of("deny", Map.of("publsh", List.of("a"))));
    badOwn(
        "has a claim eventbus.allow with what is no pattern",
        Map.of("allow", Map.of("publish", List.of(1))));
    badOwn(
        "has a claim eventbus.allow that is no list of at most 200",
        Map.of("allow", Map.of("publish", Collections.nCopies(201, "a"))));
    badOwn("has a claim eventbus.allow that is no object", Map.of("allow", List.of("a")));
    badOwn("has a claim eventbus.quota that is no object", Map.of("quota", 1));
    for (String unknown : List.of("connection", "journals")) {
      badOwn(
          "has a claim eventbus.quota with an unknown quota (expected: connections, publish-events,"
              + " publish-bytes, subscriptions, queue-bytes, requests, calls)",
          Map.of("quota", Map.of(unknown, 1)));
    }
    for (Object bad : List.of("1", -1, 1.5, true, 10_000_001, 1e30)) {
      badOwn(
          "has a claim eventbus.quota whose connections is no such limit (expected: a whole number"
              + " from 0 to 10000000)",
          Map.of("quota", Map.of("connections", bad)));
    }
  }

  @Test
  void aSetOfKeysHoldsOnlyPublicOnes() {
    String set = Tokens.set(Map.of("rsa", Tokens.RSA, "ec", Tokens.EC, "ed", Tokens.EDWARDS));
    assertThat(KeySet.parse(set).keys()).hasSize(3);
    assertThat(
            KeySet.parse(
                    "{\"keys\":[{\"kty\":\"oct\",\"kid\":\"s\",\"k\":\"" + "A".repeat(43) + "\"}]}")
                .keys())
        .isEmpty();
    assertThat(KeySet.parse("{\"keys\":[{\"kty\":\"new\",\"kid\":\"s\"}]}").keys()).isEmpty();
    assertThat(KeySet.parse(set.replace("\"kty\"", "\"use\":\"enc\",\"kty\"")).keys())
        .as("not for signatures")
        .isEmpty();
  }

  @Test
  void aWrongSetOfKeysIsRefused() {
    String two = Tokens.set(Map.of("a", Tokens.RSA)).replaceAll("\\[(.*)]", "[$1,$1]");
    assertThat(KeySet.parse(two).keys()).hasSize(1);
    assertThat(KeySet.parse(two).leftOut()).containsExactly("a second key of one kid");
    for (String wrong : List.of("", "{}", "[]", "<html>", "{\"keys\":1}")) {
      assertThatIllegalArgumentException().as(wrong).isThrownBy(() -> KeySet.parse(wrong));
    }
    String many =
        "{\"keys\":["
            + "{\"kty\":\"oct\",\"k\":\"AAAA\"},".repeat(100)
            + "{\"kty\":\"oct\",\"k\":\"AAAA\"}]}";
    assertThatIllegalArgumentException()
        .isThrownBy(() -> KeySet.parse(many))
        .withMessageContaining("101 keys");
  }
}
