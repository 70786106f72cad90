package io.eventbus.loadtest.attack.run;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A certificate of RSA that signs itself, made by the JDK's keytool. */
record ServerCertificate(Path chain, Path key) {
  private static final String PASSWORD = "only-for-tests";
  private static final String ALIAS = "bus";
  private static final int LINE = 64;
  private static final int KEYTOOL_SECONDS = 60;

  static ServerCertificate make(Path directory)
      throws IOException, GeneralSecurityException, InterruptedException {
    Path store = directory.resolve("bus.p12");
    Path said = directory.resolve("keytool.log");
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-genkeypair",
            "-keyalg",
            "RSA",
            "-keysize",
            "2048",
            "-dname",
            "CN=localhost",
            "-ext",
            "san=dns:localhost,ip:127.0.0.1",
            "-alias",
            ALIAS,
            "-storetype",
            "PKCS12",
            "-keystore",
            store.toString(),
            "-storepass",
            PASSWORD);
    Process keytool =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    if (!keytool.waitFor(KEYTOOL_SECONDS, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      keytool.destroyForcibly();
      throw new IOException("keytool: " + Files.readString(said));
    }
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    Path chain = directory.resolve("bus.pem");
    Path key = directory.resolve("bus.key");
    write(chain, "CERTIFICATE", keys.getCertificate(ALIAS).getEncoded());
    write(key, "PRIVATE KEY", keys.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded());
    return new ServerCertificate(chain, key);
  }

  private static void write(Path file, String what, byte[] der) throws IOException {
    String base64 =
        Base64.getMimeEncoder(LINE, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(der);
    Files.writeString(
        file, "-----BEGIN " + what + "-----\n" + base64 + "\n-----END " + what + "-----\n");
  }
}
