package io.eventbus.server.config;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Authentication of the buses of a cluster to each other. Whether files can be read shows when the
 * bus starts.
 *
 * @param secret what all share, or null; never printed
 * @param secretFile a file that holds it, or null
 * @param certificate PEM file with the certificate chain of this bus, or null for no TLS
 * @param key PEM file with its private key, or null for no TLS
 * @param authority PEM file with the cluster's own authority, or null for no TLS
 */
public record ClusterSecurityConfig(
    @Nullable String secret,
    @Nullable Path secretFile,
    @Nullable Path certificate,
    @Nullable Path key,
    @Nullable Path authority) {
  /** Minimum length of the secret, in bytes. */
  public static final int MIN_SECRET_BYTES = 16;

  private static final Pattern SECRET = Pattern.compile("[\\x21-\\x7e]{1,4096}");

  /**
   * Checks values that belong together.
   *
   * @param secret what all share, or null; never printed
   * @param secretFile a file that holds it, or null
   * @param certificate PEM file with the certificate chain of this bus, or null for no TLS
   * @param key PEM file with its private key, or null for no TLS
   * @param authority PEM file with the cluster's own authority, or null for no TLS
   * @throws IllegalArgumentException if the secret is too short or given twice, or if only some of
   *     the files for TLS are given
   */
  public ClusterSecurityConfig {
    if (secret != null) {
      TextCheck.matches(ConfigKey.CLUSTER_SECRET, secret, SECRET);
      checkLength(ConfigKey.CLUSTER_SECRET, secret);
      if (secretFile != null) {
        throw new IllegalArgumentException(
            ConfigKey.CLUSTER_SECRET_FILE.key()
                + ": \""
                + secretFile
                + "\" (expected: none, because cluster.secret is set)");
      }
    }
    if (certificate != null || key != null || authority != null) {
      needed(ConfigKey.CLUSTER_TLS_CERTIFICATE, certificate);
      needed(ConfigKey.CLUSTER_TLS_KEY, key);
      needed(ConfigKey.CLUSTER_TLS_CA, authority);
    }
  }

  private static void needed(ConfigKey key, @Nullable Path file) {
    if (file == null) {
      throw new IllegalArgumentException(
          key.key()
              + ": none (expected: a file, as all of cluster.tls-certificate, cluster.tls-key and"
              + " cluster.tls-ca, or none of them)");
    }
  }

  private static void checkLength(ConfigKey key, String secret) {
    int length = secret.getBytes(StandardCharsets.UTF_8).length;
    if (length < MIN_SECRET_BYTES) {
      throw new IllegalArgumentException(
          key.key() + ": " + length + " bytes (expected: >= " + MIN_SECRET_BYTES + ")");
    }
  }

  /**
   * Checks a secret that was read from the file.
   *
   * @param text what the file holds
   * @return the secret, without white space around it
   * @throws IllegalArgumentException if it is too short, too long or has other characters; the
   *     message does not hold it
   */
  public static String checkFile(String text) {
    String found = text.strip();
    TextCheck.matches(ConfigKey.CLUSTER_SECRET, found, SECRET);
    checkLength(ConfigKey.CLUSTER_SECRET_FILE, found);
    return found;
  }

  /**
   * Returns whether all buses share a secret.
   *
   * @return true with a secret, given or in a file
   */
  public boolean hasSecret() {
    return secret != null || secretFile != null;
  }

  /**
   * Returns whether strangers are kept out.
   *
   * @return true with a secret or TLS
   */
  public boolean enabled() {
    return hasSecret() || certificate != null;
  }

  /**
   * Returns the record without its secret.
   *
   * @return text with {@code ***} in place of the secret
   */
  @Override
  public String toString() {
    return "ClusterSecurityConfig[secret="
        + (secret == null ? "none" : "***")
        + ", secretFile="
        + secretFile
        + ", certificate="
        + certificate
        + ", key="
        + key
        + ", authority="
        + authority
        + "]";
  }
}
