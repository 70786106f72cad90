package io.eventbus.link;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A certificate authority of a cluster's own, made by the JDK's keytool. */
final class TestAuthority {
  private static final String PASSWORD = "only-for-tests";

  private final Path directory;

  TestAuthority(Path directory) throws Exception {
    this.directory = Files.createDirectories(directory);
    keytool("authority", "-genkeypair", "-keyalg", "EC", "-dname", "CN=authority", "-ext", "bc:c");
  }

  /** The security of a bus that has a certificate of this authority and trusts another one. */
  LinkSecurity of(String bus, TestAuthority trusted, LinkSecurity security) throws Exception {
    LinkSecurity encrypted = security.withTls();
    use(bus, trusted, encrypted);
    return encrypted;
  }

  /** Has a security use the certificate of a bus, which is made if there is none. */
  void use(String bus, TestAuthority trusted, LinkSecurity security) throws Exception {
    Path signed = directory.resolve(bus + ".crt");
    if (!Files.exists(signed)) {
      keytool(bus, "-genkeypair", "-keyalg", "EC", "-dname", "CN=" + bus);
      Path request = directory.resolve(bus + ".csr");
      keytool(bus, "-certreq", "-file", request.toString());
      keytool(
          "authority",
          "-gencert",
          "-rfc",
          "-infile",
          request.toString(),
          "-outfile",
          signed.toString());
    }
    try (InputStream in = Files.newInputStream(signed)) {
      List<X509Certificate> chain = new ArrayList<>();
      for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        chain.add((X509Certificate) each);
      }
      security.useTls(
          (PrivateKey) store(bus).getKey("it", PASSWORD.toCharArray()),
          chain,
          List.of((X509Certificate) trusted.store("authority").getCertificate("it")));
    }
  }

  private KeyStore store(String name) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(directory.resolve(name + ".p12"))) {
      store.load(in, PASSWORD.toCharArray());
    }
    Certificate certificate = store.getCertificate("it");
    if (certificate == null) {
      throw new IOException(name + ": no certificate");
    }
    return store;
  }

  private void keytool(String store, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    // A process of a moment: what makes long runs fast only makes it slow.
    command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
    command.addAll(Arrays.asList(arguments));
    command.addAll(
        List.of(
            "-alias",
            "it",
            "-storetype",
            "PKCS12",
            "-keystore",
            directory.resolve(store + ".p12").toString(),
            "-storepass",
            PASSWORD));
    Path said = directory.resolve("keytool.log");
    Process keytool =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      keytool.destroyForcibly();
      throw new IOException("keytool: " + Files.readString(said));
    }
  }
}
