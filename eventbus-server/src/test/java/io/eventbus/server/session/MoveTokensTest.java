package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class MoveTokensTest {
  private static final Duration LIFE = Duration.ofSeconds(10);

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final MoveTokens tokens = new MoveTokens("two", new SecureRandom(), now::get);

  private String issue(long producer, String from, int hops) {
    String token = tokens.issue(new MoveTokens.Grant(producer, from, hops), LIFE);
    if (token == null) {
      throw new AssertionError("no token");
    }
    return token;
  }

  private String refusal(String token, long producer) {
    MoveTokens.Redeemed redeemed = tokens.redeem(token, producer);
    assertThat(redeemed.grant()).isNull();
    return String.valueOf(redeemed.refusal());
  }

  @Test
  void aTokenSaysWhatWasGrantedOnce() {
    String token = issue(77, "one", 2);
    assertThat(tokens.outstanding()).isEqualTo(1);
    MoveTokens.Redeemed redeemed = tokens.redeem(token, 77);
    assertThat(redeemed.refusal()).isNull();
    assertThat(redeemed.grant()).isEqualTo(new MoveTokens.Grant(77, "one", 2));
    assertThat(tokens.outstanding()).isZero();
    assertThat(refusal(token, 77)).contains("used before");
  }

  @Test
  void anotherClientCannotUseItAndDoesNotUseItUp() {
    String token = issue(77, "one", 1);
    assertThat(refusal(token, 78)).contains("another client's");
    assertThat(tokens.redeem(token, 77).grant()).isNotNull();
  }

  @Test
  void aTokenExpires() {
    String token = issue(77, "one", 1);
    now.addAndGet(LIFE.toNanos());
    assertThat(refusal(token, 77)).contains("expired");
    assertThat(tokens.outstanding()).isZero();
  }

  @Test
  void everyChangedBitIsNoticed() {
    String token = issue(77, "one", 1);
    byte[] bytes = Base64.getUrlDecoder().decode(token);
    for (int bit = 0; bit < bytes.length * 8; bit++) {
      byte[] forged = bytes.clone();
      forged[bit / 8] ^= (byte) (1 << (bit % 8));
      String text = Base64.getUrlEncoder().withoutPadding().encodeToString(forged);
      assertThat(refusal(text, 77)).as("bit %d", bit).contains("not issued by this bus");
    }
    assertThat(tokens.redeem(token, 77).grant()).isNotNull();
  }

  @Test
  void refusesMalformedTokens() {
    for (String text :
        new String[] {"", "A", "not base64 at all", "A".repeat(80), "A".repeat(5000)}) {
      assertThat(refusal(text, 77)).contains("not issued by this bus");
    }
  }

  @Test
  void aTokenIsValidAtOneBusOfOneRunOnly() {
    String token = issue(77, "one", 1);
    MoveTokens other = new MoveTokens("two", new SecureRandom(), now::get);
    assertThat(other.redeem(token, 77).grant()).isNull();
  }

  @Test
  void boundsOutstandingTokensAndReleasesThem() {
    for (int i = 0; i < MoveTokens.MAX_OUTSTANDING; i++) {
      issue(i + 1, "one", 1);
    }
    MoveTokens.Grant more = new MoveTokens.Grant(1, "one", 1);
    assertThat(tokens.issue(more, LIFE)).isNull();
    now.addAndGet(LIFE.toNanos());
    assertThat(tokens.issue(more, LIFE)).isNotNull();
    assertThat(tokens.outstanding()).isEqualTo(1);
  }

  @Test
  void aNameThatIsTooLongGetsNone() {
    assertThat(tokens.issue(new MoveTokens.Grant(1, "x".repeat(256), 1), LIFE)).isNull();
  }
}
