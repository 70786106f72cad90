package io.eventbus.server.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.it.TestCertificate;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.tls.TlsFiles.ConfiguredFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CertificateWatchTest {
  // Each takes a process; one set serves all tests.
  private static TestCertificate first;
  private static TestCertificate second;
  private static TestCertificate old;

  private final Path directory;
  private final TlsFiles files;
  private final List<TlsMaterial> taken = new ArrayList<>();
  private final List<Advisory> told = new ArrayList<>();
  private CertificateWatch watch;

  CertificateWatchTest(@TempDir Path directory) {
    this.directory = directory;
    files =
        new TlsFiles(
            "listen",
            new ConfiguredFile(ConfigKey.TLS_CERTIFICATE, file("certificate.pem")),
            new ConfiguredFile(ConfigKey.TLS_KEY, file("key.pem")),
            new ConfiguredFile(ConfigKey.CLUSTER_TLS_CA, file("ca.pem")));
  }

  @BeforeAll
  static void certificates() throws Exception {
    first = TestCertificate.make("CN=first", "-0d");
    second = TestCertificate.make("CN=second", "-0d");
    old = TestCertificate.make("CN=old", "-10d");
  }

  @AfterAll
  static void forget() throws IOException {
    first.close();
    second.close();
    old.close();
  }

  @BeforeEach
  void begin() throws IOException {
    use(first);
    copy(first.certificatePem(), "ca.pem");
    watch = watch(Instant.now());
  }

  private Path file(String name) {
    return directory.resolve(name);
  }

  private void copy(Path from, String name) throws IOException {
    Files.copy(from, file(name), StandardCopyOption.REPLACE_EXISTING);
  }

  private void use(TestCertificate certificate) throws IOException {
    copy(certificate.certificatePem(), "certificate.pem");
    copy(certificate.keyPem(), "key.pem");
  }

  private CertificateWatch watch(Instant now) {
    Advisories advisories = new Advisories();
    advisories.listen(told::add);
    return new CertificateWatch(
        List.of(TlsSource.open(files, taken::add)), advisories, Clock.fixed(now, ZoneOffset.UTC));
  }

  private String subject() {
    return taken.get(taken.size() - 1).subject();
  }

  @Test
  void changedFilesAreUsedOnce() throws Exception {
    watch.look();
    assertThat(taken).hasSize(1);
    assertThat(subject()).isEqualTo("CN=first");
    use(second);
    watch.look();
    watch.look();
    assertThat(taken).hasSize(2);
    assertThat(subject()).isEqualTo("CN=second");
    assertThat(told)
        .containsExactly(
            new Advisory.CertificateChanged("listen", "CN=second", taken.get(1).expiresAt()));
  }

  @Test
  void theAuthoritiesAreLookedAtAsWell() throws Exception {
    copy(second.certificatePem(), "ca.pem");
    watch.look();
    assertThat(taken).hasSize(2);
    assertThat(taken.get(1).authorities().get(0).getSubjectX500Principal().getName())
        .isEqualTo("CN=second");
    Files.writeString(file("ca.pem"), "");
    watch.look();
    assertThat(taken).hasSize(2);
    assertThat(refusal()).contains("cluster.tls-ca: " + file("ca.pem"), "BEGIN CERTIFICATE");
  }

  @Test
  void aHalfWrittenPairIsToldOnceAndTakenWhenItIsWhole() throws Exception {
    copy(second.certificatePem(), "certificate.pem");
    watch.look();
    watch.look();
    assertThat(taken).hasSize(1);
    assertThat(told).hasSize(1);
    assertThat(refusal())
        .contains("tls.key: " + file("key.pem"), "first certificate in tls.certificate");
    copy(second.keyPem(), "key.pem");
    watch.look();
    assertThat(subject()).isEqualTo("CN=second");
  }

  private String refusal() {
    assertThat(told.get(told.size() - 1)).isInstanceOf(Advisory.CertificateRefused.class);
    return ((Advisory.CertificateRefused) told.get(told.size() - 1)).reason();
  }

  @Test
  void aCertificateThatHasExpiredDoesNotReplaceOneThatHasNot() throws Exception {
    use(old);
    watch.look();
    assertThat(subject()).isEqualTo("CN=first");
    assertThat(refusal()).contains("certificate.pem has expired at", "valid now");
    CertificateWatch restarted = watch(Instant.now());
    restarted.look();
    assertThat(subject()).isEqualTo("CN=old");
    assertThat(restarted.secondsToExpiry().get("listen"))
        .isBetween(-Duration.ofDays(10).toSeconds(), -Duration.ofDays(8).toSeconds());
  }

  @Test
  void aCertificateOfTheFutureWaitsForItsTime() throws Exception {
    CertificateWatch early = watch(Instant.now().minus(Duration.ofDays(1)));
    use(second);
    early.look();
    assertThat(taken).hasSize(2);
    assertThat(refusal()).contains("is not valid before");
    watch.look();
    assertThat(subject()).isEqualTo("CN=second");
  }

  @Test
  void filesThatAreGoneChangeNothing() throws Exception {
    Files.delete(file("key.pem"));
    watch.look();
    watch.look();
    assertThat(told).hasSize(1);
    assertThat(refusal()).contains("tls.key: " + file("key.pem") + " (expected: a readable file)");
    Files.writeString(file("key.pem"), "x".repeat(TlsFileContents.MAX_BYTES + 1));
    watch.look();
    assertThat(refusal()).contains("at most " + TlsFileContents.MAX_BYTES);
    use(first);
    watch.look();
    assertThat(taken).hasSize(1);
    assertThat(told).hasSize(2);
  }

  @Test
  void unusableFilesDoNotReplaceUsableOnes() throws Exception {
    TlsMaterial before = taken.get(0);
    TlsSource choosy =
        TlsSource.open(
            files,
            material -> {
              if (!material.subject().equals("CN=first")) {
                throw new IllegalArgumentException("no cipher");
              }
            });
    use(second);
    assertThat(choosy.look(Instant.now())).isInstanceOf(TlsSource.Look.Refused.class);
    assertThat(choosy.current().subject()).isEqualTo(before.subject());
  }

  @Test
  void theFirstFilesHaveToBeGood() throws Exception {
    copy(second.keyPem(), "key.pem");
    assertThatThrownBy(() -> TlsMaterial.read(files))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("tls.key: ");
    Files.writeString(file("key.pem"), "-----BEGIN RSA PRIVATE KEY-----\nMHcCAQEE\n");
    assertThatThrownBy(() -> TlsMaterial.read(files)).hasMessageContaining("openssl pkcs8 -topk8");
    Files.writeString(
        file("key.pem"), "-----BEGIN PRIVATE KEY-----\nMHcCAQEE\n-----END PRIVATE KEY-----\n");
    assertThatThrownBy(() -> TlsMaterial.read(files)).hasMessageContaining("an RSA or EC key");
  }

  @Test
  void aChainMayHaveTextBetween() throws Exception {
    Files.writeString(
        file("certificate.pem"),
        "subject=/CN=first -- of tests\n"
            + Files.readString(first.certificatePem())
            + "\nissuer=-x\n"
            + Files.readString(second.certificatePem()));
    assertThat(TlsMaterial.read(files).chain()).hasSize(2);
  }

  @Test
  void theKeyIsNotPrinted() {
    assertThat(taken.get(0).toString()).contains("key=***", "CN=first");
  }
}
