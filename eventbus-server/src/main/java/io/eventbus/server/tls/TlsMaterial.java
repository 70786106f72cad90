package io.eventbus.server.tls;

import io.eventbus.server.config.ConfigException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;

/**
 * Content of the files of one use of TLS: a key that fits its certificate. Immutable; any thread.
 *
 * @param authorities whose certificates are trusted; empty where the other side shows none
 */
public record TlsMaterial(
    PrivateKey key, List<X509Certificate> chain, List<X509Certificate> authorities) {
  /** Copies the lists, so that the record is immutable. */
  public TlsMaterial {
    chain = List.copyOf(chain);
    authorities = List.copyOf(authorities);
  }

  /**
   * Reads the files. Does not check dates: see {@link #expiresAt}.
   *
   * @throws ConfigException if one cannot be read or used, or the key does not fit; names the file
   *     and what was expected
   */
  public static TlsMaterial read(TlsFiles files) {
    return TlsFileContents.read(files).parse();
  }

  /** Returns the certificate of the key. */
  X509Certificate certificate() {
    return chain.get(0);
  }

  /** Returns whose certificate it is. */
  public String subject() {
    return certificate().getSubjectX500Principal().getName();
  }

  /** Returns until when the certificate of the key may be used. */
  public Instant expiresAt() {
    return certificate().getNotAfter().toInstant();
  }

  /** Prints the record without its secret. */
  @Override
  public String toString() {
    return "TlsMaterial[key=***, subject=" + subject() + ", expiresAt=" + expiresAt() + "]";
  }
}
