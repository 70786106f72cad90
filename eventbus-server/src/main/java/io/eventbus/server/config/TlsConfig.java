package io.eventbus.server.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * TLS of the client port. Whether the files can be read shows when the bus starts.
 *
 * @param certificate PEM file with the certificate chain, or null for no TLS
 * @param key PEM file with the private key in PKCS#8, or null for no TLS
 * @param clientCa PEM file with the certificates of the authority of clients' certificates, or null
 * @param clientAuth whether clients are asked for a certificate
 */
public record TlsConfig(
    @Nullable Path certificate,
    @Nullable Path key,
    @Nullable Path clientCa,
    ClientAuth clientAuth) {
  /**
   * Checks that both files are given, or none.
   *
   * @param certificate PEM file with the certificate chain, or null for no TLS
   * @param key PEM file with the private key in PKCS#8, or null for no TLS
   * @param clientCa as above
   * @param clientAuth as above
   * @throws IllegalArgumentException if only one is given, or clients are asked for certificates
   *     without TLS or without an authority
   */
  public TlsConfig {
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException(
          certificate == null
              ? "tls.certificate: none (expected: a file, because tls.key is set)"
              : "tls.key: none (expected: a file, because tls.certificate is set)");
    }
    if ((clientCa != null) != (clientAuth != ClientAuth.NONE)) {
      throw new IllegalArgumentException(
          clientCa == null
              ? "tls.client-ca: none (expected: a file, because tls.client-auth is set)"
              : "tls.client-auth: none (expected: optional or required, because tls.client-ca is"
                  + " set)");
    }
    if (clientCa != null && certificate == null) {
      throw new IllegalArgumentException(
          "tls.client-ca: set without TLS (expected: tls.certificate and tls.key as well)");
    }
  }

  /**
   * Returns whether clients connect with TLS.
   *
   * @return true when certificate and key are set
   */
  public boolean enabled() {
    return certificate != null;
  }
}
