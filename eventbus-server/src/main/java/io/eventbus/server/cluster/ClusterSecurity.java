package io.eventbus.server.cluster;

import io.eventbus.link.LinkSecurity;
import io.eventbus.server.config.ClusterSecurityConfig;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.tls.TlsFiles;
import io.eventbus.server.tls.TlsSource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Optional;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Authentication of buses to each other, with the files read.
 *
 * @param secret the shared secret, or null for none
 * @param tls the files of TLS for links, which are watched while the bus runs
 */
// The secret is read once and compared with nothing.
@SuppressWarnings("ArrayRecordComponent")
record ClusterSecurity(LinkSecurity links, byte @Nullable [] secret, Optional<TlsSource> tls) {
  private static final int MAX_SECRET_FILE = 8_192;
  private static final int DERIVED_BITS = 256;

  /**
   * Rounds of about a tenth of a second of a cold JVM, once; each guess at the secret costs as
   * much.
   */
  private static final int ROUNDS = 20_000;

  static ClusterSecurity of(ClusterSecurityConfig config) {
    String text = config.secretFile() == null ? config.secret() : read(config.secretFile());
    byte[] secret = text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    LinkSecurity links = secret == null ? LinkSecurity.none() : LinkSecurity.sharedSecret(secret);
    Optional<TlsFiles> files = TlsFiles.links(config);
    if (files.isEmpty()) {
      return new ClusterSecurity(links, secret, Optional.empty());
    }
    LinkSecurity withTls = links.withTls();
    TlsSource source =
        TlsSource.open(
            files.get(), found -> withTls.useTls(found.key(), found.chain(), found.authorities()));
    return new ClusterSecurity(withTls, secret, Optional.of(source));
  }

  /**
   * Derives a key from the secret (PBKDF2, RFC 8018), which does not lead back to it: 32 bytes, the
   * same on every bus; nothing if there is no secret. Signatures of the key may be shown to
   * clients: they could guess at a weak secret, so that each guess has to be slow.
   */
  Optional<byte[]> derive(String purpose) {
    if (secret == null) {
      return Optional.empty();
    }
    PBEKeySpec spec =
        new PBEKeySpec(
            new String(secret, StandardCharsets.UTF_8).toCharArray(),
            purpose.getBytes(StandardCharsets.US_ASCII),
            ROUNDS,
            DERIVED_BITS);
    try {
      return Optional.of(
          SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec).getEncoded());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has PBKDF2WithHmacSHA256", e);
    } finally {
      spec.clearPassword();
    }
  }

  private static String read(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MAX_SECRET_FILE);
      return ClusterSecurityConfig.checkFile(new String(bytes, StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw wrong(
          "cluster.secret-file: \"" + file + "\" cannot be read (expected: a file): " + e, e);
    } catch (IllegalArgumentException e) {
      throw wrong(e.getMessage() + ", in file " + file, e);
    }
  }

  private static ConfigException wrong(String problem, Exception cause) {
    ConfigException wrong = new ConfigException(List.of(problem));
    wrong.initCause(cause);
    return wrong;
  }
}
