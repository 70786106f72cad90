package io.eventbus.link;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A certificate authority of a cluster's own, made by the JDK's keytool. */
final class TestAuthority {
  private static final String NAME = "authority";
  private static final String STORE = "keys.p12";
  private static final String PASSWORD = "only-for-tests";

  private final Path directory;

  TestAuthority(Path directory) throws Exception {
    this.directory = Files.createDirectories(directory);
    keytool(
        "-genkeypair", "-alias", NAME, "-keyalg", "EC", "-dname", "CN=authority", "-ext", "bc:c");
    write("authority.pem", "CERTIFICATE", store().getCertificate(NAME).getEncoded());
  }

  /** The security of a bus that has a certificate of this authority and trusts another one. */
  LinkSecurity of(String bus, TestAuthority trusted, LinkSecurity security) throws Exception {
    Path chain = directory.resolve(bus + ".pem");
    if (!Files.exists(chain)) {
      keytool(
          "-genkeypair", "-alias", bus, "-signer", NAME, "-keyalg", "EC", "-dname", "CN=" + bus);
      KeyStore store = store();
      write(bus + ".key", "PRIVATE KEY", store.getKey(bus, PASSWORD.toCharArray()).getEncoded());
      write(bus + ".pem", "CERTIFICATE", store.getCertificate(bus).getEncoded());
    }
    return security.withTls(
        chain, directory.resolve(bus + ".key"), trusted.directory.resolve("authority.pem"));
  }

  private KeyStore store() throws Exception {
    return KeyStore.getInstance(directory.resolve(STORE).toFile(), PASSWORD.toCharArray());
  }

  private void write(String name, String what, byte[] der) throws IOException {
    String base64 =
        Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(der);
    Files.writeString(
        directory.resolve(name),
        "-----BEGIN " + what + "-----\n" + base64 + "\n-----END " + what + "-----\n");
  }

  private void keytool(String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    // A process of a moment: what makes long runs fast only makes it slow.
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
