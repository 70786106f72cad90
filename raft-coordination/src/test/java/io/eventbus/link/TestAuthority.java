package io.eventbus.link;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Certificate authority of a cluster's own, made by the JDK's keytool. */
final class TestAuthority {
  private static final String NAME = "authority";
  private static final String STORE = "keys.p12";
  private static final String PASSWORD = "only-for-tests";

  private final Path directory;

  TestAuthority(Path directory) throws Exception {
    this.directory = Files.createDirectories(directory);
    keytool(
        "-genkeypair", "-alias", NAME, "-keyalg", "EC", "-dname", "CN=authority", "-ext", "bc:c");
  }

  /**
   * Returns the security of a bus that has a certificate of this authority and trusts another one.
   */
  LinkSecurity of(String bus, TestAuthority trusted, LinkSecurity security) throws Exception {
    LinkSecurity encrypted = security.withTls();
    use(bus, trusted, encrypted);
    return encrypted;
  }

  /** Sets the certificate of a bus in a security; creates it if there is none. */
  void use(String bus, TestAuthority trusted, LinkSecurity security) throws Exception {
    if (!store().containsAlias(bus)) {
      keytool(
          "-genkeypair", "-alias", bus, "-signer", NAME, "-keyalg", "EC", "-dname", "CN=" + bus);
    }
    KeyStore store = store();
    List<X509Certificate> chain = new ArrayList<>();
    for (Certificate each : store.getCertificateChain(bus)) {
      chain.add((X509Certificate) each);
    }
    security.useTls(
        (PrivateKey) store.getKey(bus, PASSWORD.toCharArray()),
        chain,
        List.of((X509Certificate) trusted.store().getCertificate(NAME)));
  }

  private KeyStore store() throws Exception {
    return KeyStore.getInstance(directory.resolve(STORE).toFile(), PASSWORD.toCharArray());
  }

  private void keytool(String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    // A process of a moment: the options for long runs only make it slow.
    command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
    command.addAll(Arrays.asList(arguments));
    command.addAll(
        List.of(
            "-storetype",
            "PKCS12",
            "-keystore",
            directory.resolve(STORE).toString(),
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
