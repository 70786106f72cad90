package io.eventbus.server.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * TLS of the client port. Whether the files can be read shows when the bus starts.
 *
 * @param certificate PEM file with the certificate chain, or null for no TLS
 * @param key PEM file with the private key in PKCS#8, or null for no TLS
 */
public record TlsConfig(@Nullable Path certificate, @Nullable Path key) {
  /**
   * Checks that both files are given, or none.
   *
   * @param certificate PEM file with the certificate chain, or null for no TLS
   * @param key PEM file with the private key in PKCS#8, or null for no TLS
   * @throws IllegalArgumentException if only one is given
   */
  public TlsConfig {
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException(
          certificate == null
              ? "tls.certificate: none (expected: a file, because tls.key is set)"
              : "tls.key: none (expected: a file, because tls.certificate is set)");
    }
  }

  /**
   * Whether clients connect with TLS.
   *
   * @return true when certificate and key are set
   */
  public boolean enabled() {
    return certificate != null;
  }
}
