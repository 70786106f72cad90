package io.eventbus.it;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Self-signed certificate for 127.0.0.1, made by the JDK's keytool. */
public final class TestCertificate implements AutoCloseable {
  private static final String PASSWORD = "only-for-tests";

  private final Path directory;
  private final KeyStore store;

  private TestCertificate(Path directory, KeyStore store) {
    this.directory = directory;
    this.store = store;
  }

  /** Creates a certificate that is valid for a day from now on. */
  public static TestCertificate make() throws Exception {
    return make("CN=bus", "-0d");
  }

  /**
   * Creates a certificate that is valid for a day.
   *
   * @param begins start, as keytool has it: -10d
   */
  public static TestCertificate make(String name, String begins) throws Exception {
    Path directory = Files.createTempDirectory("eventbus-tls");
    Path file = directory.resolve("store.p12");
    Process keytool =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    // A process of a moment: what makes long runs fast only makes it slow.
                    "-J-XX:TieredStopAtLevel=1",
                    "-J-XX:+UseSerialGC",
                    "-genkeypair",
                    "-alias",
                    "bus",
                    "-keyalg",
                    "EC",
                    "-dname",
                    name,
                    "-startdate",
                    begins,
                    "-ext",
                    "SAN=ip:127.0.0.1",
                    "-validity",
                    "1",
                    "-storetype",
                    "PKCS12",
                    "-keystore",
                    file.toString(),
                    "-storepass",
                    PASSWORD))
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("keytool.log").toFile())
            .start();
    if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      keytool.destroyForcibly();
      throw new IOException("keytool: " + Files.readString(directory.resolve("keytool.log")));
    }
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD.toCharArray());
    }
    TestCertificate made = new TestCertificate(directory, store);
    made.write("certificate.pem", "CERTIFICATE", made.certificate().getEncoded());
    made.write("key.pem", "PRIVATE KEY", store.getKey("bus", PASSWORD.toCharArray()).getEncoded());
    return made;
  }

  private Certificate certificate() throws Exception {
    return store.getCertificate("bus");
  }

  private void write(String name, String what, byte[] der) throws IOException {
    String base64 =
        Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(der);
    Files.writeString(
        directory.resolve(name),
        "-----BEGIN " + what + "-----\n" + base64 + "\n-----END " + what + "-----\n");
  }

  public Path certificatePem() {
    return directory.resolve("certificate.pem");
  }

  public Path keyPem() {
    return directory.resolve("key.pem");
  }

  /** Returns a context that trusts this certificate and no other. */
  public SSLContext trusting() throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust().getTrustManagers(), null);
    return context;
  }

  /** Returns a context that trusts these certificates and no others. */
  static SSLContext trustingAny(TestCertificate... trusted) throws Exception {
    KeyStore all = KeyStore.getInstance("PKCS12");
    all.load(null, null);
    for (int i = 0; i < trusted.length; i++) {
      all.setCertificateEntry("bus-" + i, trusted[i].certificate());
    }
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(all);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, factory.getTrustManagers(), null);
    return context;
  }

  /** Returns such a context that shows this certificate if a server asks for one. */
  SSLContext identified() throws Exception {
    return identified(this);
  }

  /** Returns a context that shows this certificate if a server asks for one, and trusts another. */
  SSLContext identified(TestCertificate trusted) throws Exception {
    KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    own.init(store, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(own.getKeyManagers(), trusted.trust().getTrustManagers(), null);
    return context;
  }

  private TrustManagerFactory trust() throws Exception {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("bus", certificate());
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(trusted);
    return factory;
  }

  @Override
  public void close() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }
}
