package io.eventbus.link;

import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.nio.charset.StandardCharsets;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Mutual authentication of buses. Any thread may use it; only the certificates change.
 *
 * <p>A shared secret authenticates both sides and encrypts nothing: it keeps strangers out of a
 * network that is trusted. TLS with a certificate authority of the cluster's own authenticates both
 * sides and encrypts everything. They may be combined. With neither, any process that reaches the
 * port may become a member.
 */
public final class LinkSecurity {
  /** Minimum length of the secret: 16 bytes. */
  public static final int MIN_SECRET_BYTES = 16;

  /** Key of buses without a secret, so that they have a handshake of the same shape. */
  private static final byte[] NO_SECRET = "no secret".getBytes(StandardCharsets.US_ASCII);

  private final byte[] key;
  private final boolean encrypts;
  private volatile @Nullable Contexts tls;

  /** TLS contexts of both sides of a link. */
  private record Contexts(SslContext server, SslContext client) {}

  private LinkSecurity(byte[] key, boolean encrypts) {
    this.key = key;
    this.encrypts = encrypts;
  }

  /**
   * Creates a security under which any process may open links.
   *
   * @return no security
   */
  public static LinkSecurity none() {
    return new LinkSecurity(NO_SECRET, false);
  }

  /**
   * Creates a security for links between buses that share a secret.
   *
   * @param secret at least {@link #MIN_SECRET_BYTES} bytes, better random ones
   * @return the security
   * @throws IllegalArgumentException if the secret is too short
   */
  public static LinkSecurity sharedSecret(byte[] secret) {
    if (secret.length < MIN_SECRET_BYTES) {
      throw new IllegalArgumentException(
          "secret: " + secret.length + " bytes (expected: >= " + MIN_SECRET_BYTES + ")");
    }
    return new LinkSecurity(secret.clone(), false);
  }

  /**
   * Adds TLS (1.3 or 1.2) with certificates on both sides. No link can be opened before {@link
   * #useTls} has set them.
   *
   * @return this security and TLS
   */
  public LinkSecurity withTls() {
    return new LinkSecurity(key, true);
  }

  /**
   * Sets the certificates that links use and trust which begin from now on; those that are open go
   * on.
   *
   * @param privateKey this bus's key
   * @param chain its certificate, and those that lead to the authority
   * @param authorities the certificates of the cluster's own authority. A process with a
   *     certificate of it is trusted, whatever host it names
   * @throws IllegalArgumentException if they cannot be used: what was used before stays
   * @throws IllegalStateException if this is no security {@link #withTls}
   */
  public void useTls(
      PrivateKey privateKey, List<X509Certificate> chain, List<X509Certificate> authorities) {
    if (!encrypts) {
      throw new IllegalStateException("a security without TLS (expected: one of withTls)");
    }
    try {
      SslContext asServer =
          SslContextBuilder.forServer(privateKey, chain)
              .sslProvider(SslProvider.JDK)
              .trustManager(authorities)
              .clientAuth(ClientAuth.REQUIRE)
              .protocols("TLSv1.3", "TLSv1.2")
              .build();
      SslContext asClient =
          SslContextBuilder.forClient()
              .sslProvider(SslProvider.JDK)
              .keyManager(privateKey, chain)
              .trustManager(authorities)
              .protocols("TLSv1.3", "TLSv1.2")
              .endpointIdentificationAlgorithm(null)
              .build();
      tls = new Contexts(asServer, asClient);
    } catch (SSLException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  byte[] key() {
    return key;
  }

  @Nullable SslContext server() {
    return encrypts ? contexts().server() : null;
  }

  @Nullable SslContext client() {
    return encrypts ? contexts().client() : null;
  }

  private Contexts contexts() {
    Contexts current = tls;
    if (current == null) {
      throw new IllegalStateException("no certificates (expected: useTls before the first link)");
    }
    return current;
  }
}
