package io.eventbus.server.cluster;

import io.eventbus.link.LinkSecurity;
import io.eventbus.server.config.ClusterSecurityConfig;
import io.eventbus.server.config.ConfigException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How this bus and the others make sure of each other, with the files read.
 *
 * @param links for links
 * @param secret the shared secret, or null for none
 */
// The secret is read once and compared with nothing.
@SuppressWarnings("ArrayRecordComponent")
record ClusterSecurity(LinkSecurity links, byte @Nullable [] secret) {
  private static final int MAX_SECRET_FILE = 8_192;

  static ClusterSecurity of(ClusterSecurityConfig config) {
    String text = config.secretFile() == null ? config.secret() : read(config.secretFile());
    byte[] secret = text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    LinkSecurity links = secret == null ? LinkSecurity.none() : LinkSecurity.sharedSecret(secret);
    Path certificate = config.certificate();
    Path key = config.key();
    Path authority = config.authority();
    if (certificate != null && key != null && authority != null) {
      try {
        links = links.withTls(certificate, key, authority);
      } catch (IllegalArgumentException e) {
        throw wrong("cluster.tls-certificate: " + e.getMessage(), e);
      }
    }
    return new ClusterSecurity(links, secret);
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
