package io.eventbus.server.config;

import java.net.URI;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Signed tokens that name a client (JSON Web Tokens, RFC 7519).
 *
 * @param issuer what {@code iss} has to be; null where there are no keys
 * @param audience what {@code aud} has to contain; null where there are no keys
 * @param claims where account and roles are
 * @param algorithms with which tokens may be signed
 * @param secretFile file with a shared secret, or null
 * @param publicKeys file with public keys, or null
 * @param jwksUrl where public keys are fetched, or null
 */
public record JwtConfig(
    @Nullable String issuer,
    @Nullable String audience,
    ClaimPaths claims,
    List<String> algorithms,
    @Nullable Path secretFile,
    @Nullable Path publicKeys,
    @Nullable URI jwksUrl) {
  private static final String KEYS =
      "auth.jwt.secret-file, auth.jwt.public-keys or auth.jwt.jwks-url as well";
  private static final Pattern LABEL = Pattern.compile("[\\x21-\\x7e]{1,256}");
  private static final Pattern ALGORITHM = Pattern.compile("(HS|RS|PS|ES)(256|384|512)|EdDSA");
  private static final Pattern CLAIM =
      Pattern.compile("[\\x21-\\x7e&&[^.]]+(\\.[\\x21-\\x7e&&[^.]]+)*");
  private static final int MAX_CLAIM_CHARS = 256;
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  /**
   * Claims with account and roles, beside the claim {@code eventbus}: each a claim of that name, or
   * a path with dots.
   *
   * @param roles null for nowhere else
   * @param account null for nowhere else
   */
  public record ClaimPaths(@Nullable String roles, @Nullable String account) {
    /** Paths of claims, none of which is set. */
    public static final ClaimPaths NONE = new ClaimPaths(null, null);

    /**
     * Checks the paths.
     *
     * @param roles as above
     * @param account as above
     * @throws IllegalArgumentException if one has another form
     */
    public ClaimPaths {
      check(ConfigKey.AUTH_JWT_ROLES_CLAIM, roles);
      check(ConfigKey.AUTH_JWT_ACCOUNT_CLAIM, account);
    }

    private static void check(ConfigKey key, @Nullable String path) {
      if (path != null) {
        TextCheck.matches(key, path, CLAIM);
        if (path.length() > MAX_CLAIM_CHARS) {
          throw new IllegalArgumentException(
              key.key()
                  + ": "
                  + path.length()
                  + " characters (expected: "
                  + key.type().expectation()
                  + ")");
        }
      }
    }
  }

  /**
   * Checks that everything needed to verify tokens is there.
   *
   * @param issuer as above
   * @param audience as above
   * @param claims as above
   * @param algorithms as above
   * @param secretFile as above
   * @param publicKeys as above
   * @param jwksUrl as above
   * @throws IllegalArgumentException if something is missing or has another form
   */
  public JwtConfig {
    algorithms = List.copyOf(algorithms);
    label(ConfigKey.AUTH_JWT_ISSUER, issuer);
    label(ConfigKey.AUTH_JWT_AUDIENCE, audience);
    if (algorithms.isEmpty() || new HashSet<>(algorithms).size() < algorithms.size()) {
      throw new IllegalArgumentException(
          ConfigKey.AUTH_JWT_ALGORITHMS.key()
              + ": "
              + algorithms
              + " (expected: at least one, none twice)");
    }
    algorithms.forEach(name -> TextCheck.matches(ConfigKey.AUTH_JWT_ALGORITHMS, name, ALGORITHM));
    if (jwksUrl != null) {
      checkUrl(jwksUrl);
    }
    boolean keys = secretFile != null || publicKeys != null || jwksUrl != null;
    if (keys && (issuer == null || audience == null)) {
      ConfigKey missing = issuer == null ? ConfigKey.AUTH_JWT_ISSUER : ConfigKey.AUTH_JWT_AUDIENCE;
      throw new IllegalArgumentException(
          missing.key() + ": none (expected: a value, because there are keys for tokens)");
    }
    if (!keys && !claims.equals(ClaimPaths.NONE)) {
      ConfigKey set =
          claims.roles() != null
              ? ConfigKey.AUTH_JWT_ROLES_CLAIM
              : ConfigKey.AUTH_JWT_ACCOUNT_CLAIM;
      throw new IllegalArgumentException(set.key() + ": set without keys (expected: " + KEYS + ")");
    }
    if (!keys && (issuer != null || audience != null)) {
      ConfigKey set = issuer != null ? ConfigKey.AUTH_JWT_ISSUER : ConfigKey.AUTH_JWT_AUDIENCE;
      throw new IllegalArgumentException(set.key() + ": set without keys (expected: " + KEYS + ")");
    }
  }

  private static void label(ConfigKey key, @Nullable String text) {
    if (text != null) {
      TextCheck.matches(key, text, LABEL);
    }
  }

  private static void checkUrl(URI url) {
    boolean legal =
        url.getHost() != null
            && url.getUserInfo() == null
            && ("https".equals(url.getScheme())
                || ("http".equals(url.getScheme()) && LOOPBACK.contains(url.getHost())));
    if (!legal) {
      throw new IllegalArgumentException(
          ConfigKey.AUTH_JWT_JWKS_URL.key()
              + ": \""
              + url
              + "\" (expected: "
              + ConfigKey.AUTH_JWT_JWKS_URL.type().expectation()
              + ")");
    }
  }

  /**
   * Returns whether there are keys for tokens.
   *
   * @return false where no token is looked at
   */
  public boolean enabled() {
    return issuer != null;
  }
}
