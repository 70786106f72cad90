package io.eventbus.link;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A certificate authority of a cluster's own, made by the JDK's keytool. */
final class TestAuthority {
  private static final String PASSWORD = "only-for-tests";

  private final Path directory;

  TestAuthority(Path directory) throws Exception {
    this.directory = Files.createDirectories(directory);
    keytool("authority", "-genkeypair", "-keyalg", "EC", "-dname", "CN=authority", "-ext", "bc:c");
    write("authority.pem", "CERTIFICATE", store("authority").getCertificate("it").getEncoded());
  }

  /** The security of a bus that has a certificate of this authority and trusts another one. */
  LinkSecurity of(String bus, TestAuthority trusted, LinkSecurity security) throws Exception {
    Path chain = directory.resolve(bus + ".pem");
    if (!Files.exists(chain)) {
      keytool(bus, "-genkeypair", "-keyalg", "EC", "-dname", "CN=" + bus);
      Path request = directory.resolve(bus + ".csr");
      keytool(bus, "-certreq", "-file", request.toString());
      Path signed = directory.resolve(bus + ".crt");
      keytool(
          "authority",
          "-gencert",
          "-rfc",
          "-infile",
          request.toString(),
          "-outfile",
          signed.toString());
      Files.copy(signed, chain);
      write(
          bus + ".key",
          "PRIVATE KEY",
          store(bus).getKey("it", PASSWORD.toCharArray()).getEncoded());
    }
    return security.withTls(
        chain, directory.resolve(bus + ".key"), trusted.directory.resolve("authority.pem"));
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

  private void write(String name, String what, byte[] der) throws IOException {
    String base64 =
        Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(der);
    Files.writeString(
        directory.resolve(name),
        "-----BEGIN " + what + "-----\n" + base64 + "\n-----END " + what + "-----\n");
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
