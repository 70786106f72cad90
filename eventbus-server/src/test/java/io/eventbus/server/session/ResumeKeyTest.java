package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.server.security.Principal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResumeKeyTest {
  private static final byte[] SECRET =
      "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.UTF_8);

  private final SecureRandom random = new SecureRandom();
  private final ResumeKey key = ResumeKey.of(SECRET);

  private String create() {
    return key.create(random, Principal.UNKNOWN, number -> true);
  }

  private static byte[] hmac(byte[] key, byte[]... parts) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    for (byte[] part : parts) {
      mac.update(part);
    }
    return mac.doFinal();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] decode(String resume) {
    return Base64.getUrlDecoder().decode(resume);
  }

  private static String encode(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  @Test
  void createsWellFormedAndSignedResumes() {
    Set<String> made = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      String resume = create();
      assertThat(Resume.isWellFormed(resume)).isTrue();
      assertThat(key.hasSigned(resume)).isTrue();
      assertThat(ResumeKey.of(SECRET).hasSigned(resume)).as("another bus's").isTrue();
      assertThat(made.add(resume)).isTrue();
    }
  }

  @Test
  void theFormatIsTheDocumentedOne() throws Exception {
    byte[] bytes = decode(create());
    byte[] derived = hmac(SECRET, ascii("eventbus resume key v1"));
    byte[] mac = hmac(derived, ascii("eventbus resume v1"), Arrays.copyOf(bytes, 16));
    assertThat(bytes).hasSize(32).endsWith(Arrays.copyOf(mac, 16));
  }

  @Test
  void everyBitCounts() {
    String resume = create();
    byte[] bytes = decode(resume);
    for (int bit = 0; bit < 256; bit++) {
      byte[] changed = bytes.clone();
      changed[bit / 8] ^= (byte) (1 << bit % 8);
      assertThat(key.hasSigned(encode(changed))).as("bit %d", bit).isFalse();
    }
    assertThat(key.hasSigned(resume)).isTrue();
  }

  @Test
  void acceptsASingleTextForAResume() {
    String resume = create();
    // The last character has two spare bits, which a lenient decoder ignores; each of the texts
    // would be another number.
    String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    List<String> signed = new ArrayList<>();
    for (int i = 0; i < alphabet.length(); i++) {
      String text = resume.substring(0, 42) + alphabet.charAt(i);
      if (key.hasSigned(text)) {
        signed.add(text);
      }
    }
    assertThat(signed).containsExactly(resume);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "___________________________________________",
        "0000000000000000000000000000000000000000001"
      })
  void rejectsAnUnsignedResume(String resume) {
    assertThat(Resume.isWellFormed(resume)).isTrue();
    assertThat(key.hasSigned(resume)).isFalse();
  }

  @Test
  void oldResumesAndThoseOfOtherKeysAreForeign() {
    byte[] old = new byte[32];
    random.nextBytes(old);
    assertThat(key.hasSigned(encode(old))).isFalse();
    assertThat(
            key.hasSigned(ResumeKey.ofThisRun().create(random, Principal.UNKNOWN, number -> true)))
        .isFalse();
    byte[] almost = SECRET.clone();
    almost[31] ^= 1;
    assertThat(ResumeKey.of(almost).hasSigned(create())).isFalse();
    assertThat(ResumeKey.ofThisRun().hasSigned(create())).isFalse();
  }

  @Test
  void rejectsMalformedResumes() {
    String resume = create();
    for (int length = 0; length < resume.length(); length++) {
      assertThat(key.hasSigned(resume.substring(0, length))).isFalse();
    }
    assertThat(key.hasSigned(resume + "=")).isFalse();
    assertThat(key.hasSigned(resume + "A")).isFalse();
    assertThat(key.hasSigned(" " + resume.substring(1))).isFalse();
    assertThat(key.hasSigned("\u00e9" + resume.substring(1))).isFalse();
  }

  @Test
  void aNumberThatFitsIsLookedForButNotForEver() throws Exception {
    String even = key.create(random, Principal.UNKNOWN, number -> number % 8 == 0);
    assertThat(Resume.producer(even, Principal.UNKNOWN) % 8).isZero();
    List<Long> tried = new ArrayList<>();
    String any =
        key.create(
            random,
            Principal.UNKNOWN,
            number -> {
              tried.add(number);
              return false;
            });
    assertThat(key.hasSigned(any)).isTrue();
    assertThat(tried).hasSizeBetween(8, 64).doesNotHaveDuplicates();
    byte[] hash = MessageDigest.getInstance("SHA-256").digest(ascii(any));
    assertThat(Resume.producer(any, Principal.UNKNOWN))
        .isEqualTo(java.nio.ByteBuffer.wrap(hash).getLong() & Long.MAX_VALUE);
  }

  @Test
  void threadsDoNotDisturbEachOther() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<CompletableFuture<Boolean>> all = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        all.add(
            CompletableFuture.supplyAsync(
                () -> {
                  boolean good = true;
                  for (int n = 0; n < 2_000; n++) {
                    good &= key.hasSigned(create());
                  }
                  return good;
                },
                threads));
      }
      for (CompletableFuture<Boolean> one : all) {
        assertThat(one.get(60, TimeUnit.SECONDS)).isTrue();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aShortSecretIsRefusedAndNoneIsShown() {
    assertThatThrownBy(() -> ResumeKey.of(new byte[31]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("31 bytes (expected: >= 32)");
    assertThat(key.toString()).isEqualTo("ResumeKey[***]");
  }
}
