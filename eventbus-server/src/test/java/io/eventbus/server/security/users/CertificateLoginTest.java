package io.eventbus.server.security.users;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.config.CertificateSubject;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FailedLogin;
import io.eventbus.server.security.LoginOutcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CertificateLoginTest {
  private static X509Certificate certificate;

  @BeforeAll
  static void make(@TempDir Path directory) throws Exception {
    Path store = directory.resolve("keys.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                "EC",
                "-alias",
                "client",
                "-dname",
                "CN=billing, OU=\"a, CN=b\"",
                "-ext",
                "SAN=uri:spiffe://example.org/billing,dns:billing.example.org,dns:b.example.org",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                "changeit")
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("keytool.log").toFile())
            .start();
    assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
    certificate =
        (X509Certificate)
            KeyStore.getInstance(store.toFile(), "changeit".toCharArray()).getCertificate("client");
  }

  private static LoginOutcome ask(CertificateSubject subject, @Nullable Users users) {
    Credentials credentials = new Credentials(null, null, certificate, "a", false);
    CertificateLogin login = new CertificateLogin(subject, users);
    assertThat(login.takes(credentials)).isTrue();
    return login.check(credentials).join();
  }

  private static String subject(CertificateSubject subject) {
    LoginOutcome outcome = ask(subject, null);
    assertThat(outcome).isInstanceOf(LoginOutcome.Proved.class);
    return ((LoginOutcome.Proved) outcome).identity().subject();
  }

  @Test
  void theNameIsTheOneOfItsKind() {
    assertThat(subject(CertificateSubject.URI_SAN)).isEqualTo("spiffe://example.org/billing");
    assertThat(subject(CertificateSubject.CN)).isEqualTo("billing");
    assertThat(ask(CertificateSubject.DNS_SAN, null))
        .as("two names are none")
        .isInstanceOf(LoginOutcome.Wrong.class);
  }

  @Test
  void aUserOutsideTheFileIsRefused(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("users"), "billing:*:acme:reader\n");
    Users users = new Users(file);
    LoginOutcome outcome = ask(CertificateSubject.CN, users);
    assertThat(outcome).isInstanceOf(LoginOutcome.Proved.class);
    assertThat(((LoginOutcome.Proved) outcome).identity().account()).isEqualTo("acme");
    assertThat(((LoginOutcome.Proved) outcome).identity().roles()).containsExactly("reader");
    assertThat(ask(CertificateSubject.URI_SAN, users))
        .isEqualTo(
            new LoginOutcome.Wrong(
                new FailedLogin(
                    "showed a certificate whose name is not in the users file",
                    "",
                    "spiffe://example.org/billing")));
  }

  /** A wrong token must not lead to the certificate. */
  @Test
  void credentialsInHelloComeFirst() {
    CertificateLogin login = new CertificateLogin(CertificateSubject.CN, null);
    assertThat(login.takes(new Credentials(null, "t", certificate, "a", false))).isFalse();
    assertThat(login.takes(new Credentials("u", null, certificate, "a", false))).isFalse();
    assertThat(login.takes(new Credentials(null, null, null, "a", false))).isFalse();
  }
}
