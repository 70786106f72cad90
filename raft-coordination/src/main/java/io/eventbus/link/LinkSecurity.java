package io.eventbus.link;

import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * How buses make sure of each other. Immutable; any thread may use it.
 *
 * <p>A shared secret authenticates both sides and encrypts nothing: it keeps strangers out of a
 * network that is trusted. TLS with a certificate authority of the cluster's own authenticates both
 * sides and encrypts everything. They may be combined. With neither, any process that reaches the
 * port may become a member.
 */
public final class LinkSecurity {
  /** The shortest secret: 16 bytes. */
  public static final int MIN_SECRET_BYTES = 16;

  /** The key of buses without a secret, so that they have a handshake of the same shape. */
  private static final byte[] NO_SECRET = "no secret".getBytes(StandardCharsets.US_ASCII);

  private final byte[] key;
  private final @Nullable SslContext server;
  private final @Nullable SslContext client;

  private LinkSecurity(byte[] key, @Nullable SslContext server, @Nullable SslContext client) {
    this.key = key;
    this.server = server;
    this.client = client;
  }

  /**
   * Makes links that any process may open.
   *
   * @return no security
   */
  public static LinkSecurity none() {
    return new LinkSecurity(NO_SECRET, null, null);
  }

  /**
   * Makes links between buses that share a secret.
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
    return new LinkSecurity(secret.clone(), null, null);
  }

  /**
   * Adds TLS (1.3 or 1.2) with certificates on both sides.
   *
   * @param certificates this bus's certificate chain, in a PEM file
   * @param privateKey its key, in a PEM file, PKCS 8, not encrypted
   * @param authority the certificates of the cluster's own authority, in a PEM file. A process with
   *     a certificate of it is trusted, whatever host it names
   * @return this security and TLS
   * @throws IllegalArgumentException if a file cannot be read or used, saying which
   */
  public LinkSecurity withTls(Path certificates, Path privateKey, Path authority) {
    try {
      SslContext asServer =
          SslContextBuilder.forServer(certificates.toFile(), privateKey.toFile())
              .sslProvider(SslProvider.JDK)
              .trustManager(authority.toFile())
              .clientAuth(ClientAuth.REQUIRE)
              .protocols("TLSv1.3", "TLSv1.2")
              .build();
      SslContext asClient =
          SslContextBuilder.forClient()
              .sslProvider(SslProvider.JDK)
              .keyManager(certificates.toFile(), privateKey.toFile())
              .trustManager(authority.toFile())
              .protocols("TLSv1.3", "TLSv1.2")
              .endpointIdentificationAlgorithm(null)
              .build();
      return new LinkSecurity(key, asServer, asClient);
    } catch (SSLException | IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "TLS: " + certificates + ", " + privateKey + ", " + authority + ": " + e.getMessage(), e);
    }
  }

  byte[] key() {
    return key;
  }

  @Nullable SslContext server() {
    return server;
  }

  @Nullable SslContext client() {
    return client;
  }
}
