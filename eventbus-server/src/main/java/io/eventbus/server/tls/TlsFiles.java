package io.eventbus.server.tls;

import io.eventbus.server.config.AdminAccessConfig;
import io.eventbus.server.config.ClusterSecurityConfig;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.config.TlsConfig;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * PEM files of one use of TLS.
 *
 * @param authorities whose certificates are trusted, or null where the other side shows none
 */
public record TlsFiles(
    String use,
    ConfiguredFile certificate,
    ConfiguredFile key,
    @Nullable ConfiguredFile authorities) {
  /** File, and the key of the configuration that names it. */
  public record ConfiguredFile(ConfigKey key, Path path) {
    @Override
    public String toString() {
      return key.key() + ": " + path;
    }
  }

  /** Returns the files for connections of clients; empty if TLS is off. */
  public static Optional<TlsFiles> clients(TlsConfig config) {
    Path certificate = config.certificate();
    Path key = config.key();
    Path authority = config.clientCa();
    return certificate == null || key == null
        ? Optional.empty()
        : Optional.of(
            new TlsFiles(
                "listen",
                new ConfiguredFile(ConfigKey.TLS_CERTIFICATE, certificate),
                new ConfiguredFile(ConfigKey.TLS_KEY, key),
                authority == null ? null : new ConfiguredFile(ConfigKey.TLS_CLIENT_CA, authority)));
  }

  /** Returns the files for the administration port; empty if TLS is off. */
  public static Optional<TlsFiles> administration(AdminAccessConfig config) {
    Path certificate = config.certificate();
    Path key = config.key();
    return certificate == null || key == null
        ? Optional.empty()
        : Optional.of(
            new TlsFiles(
                "admin",
                new ConfiguredFile(ConfigKey.ADMIN_TLS_CERTIFICATE, certificate),
                new ConfiguredFile(ConfigKey.ADMIN_TLS_KEY, key),
                null));
  }

  /** Returns the files for links between buses; empty if TLS is off. */
  public static Optional<TlsFiles> links(ClusterSecurityConfig config) {
    Path certificate = config.certificate();
    Path key = config.key();
    Path authority = config.authority();
    return certificate == null || key == null || authority == null
        ? Optional.empty()
        : Optional.of(
            new TlsFiles(
                "link",
                new ConfiguredFile(ConfigKey.CLUSTER_TLS_CERTIFICATE, certificate),
                new ConfiguredFile(ConfigKey.CLUSTER_TLS_KEY, key),
                new ConfiguredFile(ConfigKey.CLUSTER_TLS_CA, authority)));
  }
}
