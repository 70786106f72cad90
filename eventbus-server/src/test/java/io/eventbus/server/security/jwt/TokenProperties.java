package io.eventbus.server.security.jwt;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.config.JwtConfig.ClaimPaths;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** For any change of a token, it is bad or names no key: nothing is thrown. */
class TokenProperties {
  private static final String GOOD = Tokens.signed(Tokens.claims());
  private static final List<TokenKey> KEYS = List.of(Tokens.key("rsa", Tokens.RSA.getPublic()));

  private final JwtVerifier verifier =
      new JwtVerifier(
          Tokens.ISSUER,
          Tokens.AUDIENCE,
          List.of("RS256", "HS256"),
          ClaimPaths.NONE,
          Tokens.clock());

  @Property(tries = 300)
  void anyText(@ForAll String header, @ForAll String body, @ForAll String signature) {
    assertThat(verifier.verify(header + "." + body + "." + signature, KEYS))
        .isNotInstanceOf(TokenVerdict.Good.class);
  }

  @Property(tries = 300)
  void anyJson(@ForAll String inHeader, @ForAll String value) {
    String json = "{\"alg\":\"RS256\",\"kid\":\"rsa\"," + inHeader + value + "}";
    String token =
        Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(json.getBytes(StandardCharsets.UTF_8))
            + ".e30.e30";
    assertThat(verifier.verify(token, KEYS)).isNotInstanceOf(TokenVerdict.Good.class);
  }

  @Property(tries = 300)
  void aChangedCharacterFails(@ForAll @IntRange(min = 0, max = 5_000) int at, @ForAll char other) {
    int place = at % GOOD.length();
    String changed = GOOD.substring(0, place) + other + GOOD.substring(place + 1);
    // The last character of a part has bits that mean nothing.
    boolean same =
        changed.equals(GOOD) || place + 1 == GOOD.length() || GOOD.charAt(place + 1) == '.';
    if (!same) {
      assertThat(verifier.verify(changed, KEYS)).isNotInstanceOf(TokenVerdict.Good.class);
    }
  }
}
