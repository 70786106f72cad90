package io.eventbus.server.security.jwt;

import static org.jose4j.jwa.AlgorithmConstraints.ConstraintType.PERMIT;

import io.eventbus.server.config.JwtConfig.ClaimPaths;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Identity;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.NumericDate;
import org.jose4j.jwt.consumer.ErrorCodeValidator;
import org.jose4j.jwt.consumer.ErrorCodes;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.jwt.consumer.JwtConsumerBuilder;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;

/**
 * Verifier of tokens. The key decides which algorithms there may be, never the token. Immutable;
 * any thread, but not an event loop: signatures take up to milliseconds.
 */
final class JwtVerifier {
  /** Maximum length of a token that is verified: more than issuers write. */
  static final int MAX_CHARS = 8 * 1024;

  static final Duration SKEW = Authentications.MAX_SKEW;
  static final Duration MAX_LIFE = Duration.ofHours(24);

  /**
   * Types of tokens for access: a token of the same issuer for something else is no proof here (RFC
   * 8725, section 3.11).
   */
  private static final Set<String> OF_ACCESS = Set.of("jwt", "at+jwt");

  private static final int MINUTES_OF_A_DAY = 24 * 60;

  private final String issuer;
  private final String audience;
  private final Set<String> algorithms;
  private final TokenClaims claims;
  private final Clock clock;

  /** Creates a verifier. */
  JwtVerifier(
      String issuer, String audience, List<String> algorithms, ClaimPaths paths, Clock clock) {
    this.claims = new TokenClaims(paths);
    this.issuer = issuer;
    this.audience = audience;
    this.algorithms = Set.copyOf(algorithms);
    this.clock = clock;
  }

  /** Returns whether a text has three parts, before anything is done with them. */
  static boolean hasThreeParts(String token) {
    int first = token.indexOf('.');
    int second = token.indexOf('.', first + 1);
    return first >= 0 && second >= 0 && token.indexOf('.', second + 1) < 0;
  }

  /** Verifies a token. */
  TokenVerdict verify(String token, List<TokenKey> keys) {
    if (token.length() > MAX_CHARS || !hasThreeParts(token)) {
      return bad("has more than " + MAX_CHARS + " characters, or not three parts");
    }
    if (!hasOneSpelling(token)) {
      return bad("is not written in base64url without padding");
    }
    String algorithm;
    String keyId;
    String type;
    boolean hasCritical;
    try {
      JsonWebSignature signature = new JsonWebSignature();
      signature.setCompactSerialization(token);
      algorithm = signature.getAlgorithmHeaderValue();
      keyId = signature.getKeyIdHeaderValue();
      type = type(signature.getHeaders().getObjectHeaderValue("typ"));
      hasCritical = signature.getHeaders().getObjectHeaderValue("crit") != null;
    } catch (JoseException | RuntimeException e) {
      return bad("cannot be read");
    }
    if (!OF_ACCESS.contains(type)) {
      return bad("has a typ of another kind than JWT or at+jwt");
    }
    if (hasCritical) {
      return bad("has crit, of which the bus knows no extension");
    }
    if (algorithm == null || !algorithms.contains(algorithm)) {
      return bad("has an algorithm that is not in auth.jwt.algorithms");
    }
    List<TokenKey> candidates = candidates(keys, keyId, algorithm);
    if (candidates.isEmpty()) {
      return keyId != null && keys.stream().anyMatch(key -> keyId.equals(key.id()))
          ? bad("has an algorithm that does not fit the key that it names")
          : new TokenVerdict.UnknownKey(keyId == null ? "" : keyId);
    }
    if (candidates.size() > 1) {
      return bad("names no key (expected: kid, because there are several of its type)");
    }
    return verify(token, algorithm, candidates.get(0));
  }

  /** Returns the type in lower case, as RFC 7515, section 4.1.9, compares it. */
  private static String type(@Nullable Object header) {
    if (header == null) {
      return "jwt";
    }
    String text = header instanceof String type ? type.toLowerCase(Locale.ROOT) : "?";
    return text.startsWith("application/") ? text.substring("application/".length()) : text;
  }

  /**
   * Returns whether the token has no padding, blanks or spare bits: readers ignore them, and with
   * them one token would be remembered as any number of others. Header and payload are signed as
   * they are written.
   */
  private static boolean hasOneSpelling(String token) {
    for (int i = 0; i < token.length(); i++) {
      char c = token.charAt(i);
      boolean letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.') {
        return false;
      }
    }
    String signature = token.substring(token.lastIndexOf('.') + 1);
    try {
      byte[] bytes = Base64.getUrlDecoder().decode(signature);
      return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes).equals(signature);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static List<TokenKey> candidates(
      List<TokenKey> keys, @Nullable String keyId, String algorithm) {
    List<TokenKey> fitting = keys.stream().filter(key -> key.fits(algorithm)).toList();
    if (keyId == null) {
      return fitting;
    }
    List<TokenKey> named = fitting.stream().filter(key -> keyId.equals(key.id())).toList();
    // A key from a file may have no name.
    return named.isEmpty() ? fitting.stream().filter(key -> key.id() == null).toList() : named;
  }

  private TokenVerdict verify(String token, String algorithm, TokenKey key) {
    Instant now = clock.instant();
    JwtClaims shown;
    try {
      shown =
          new JwtConsumerBuilder()
              .setJwsAlgorithmConstraints(PERMIT, algorithm)
              .setVerificationKey(key.key())
              .setEvaluationTime(NumericDate.fromMilliseconds(now.toEpochMilli()))
              .setAllowedClockSkewInSeconds((int) SKEW.toSeconds())
              .setRequireExpirationTime()
              .setRequireIssuedAt()
              .setMaxFutureValidityInMinutes(MINUTES_OF_A_DAY)
              .setRequireSubject()
              .setExpectedIssuer(true, issuer)
              .setExpectedAudience(true, audience)
              .build()
              .processToClaims(token);
    } catch (InvalidJwtException e) {
      String what = reason(e);
      // Claims are looked at only where the signature is right.
      boolean isSigned =
          !what.isEmpty()
              && !e.hasErrorCode(ErrorCodes.SIGNATURE_INVALID)
              && !e.hasErrorCode(ErrorCodes.JSON_INVALID);
      return bad(
          what.isEmpty() ? "cannot be checked with the key that it names" : what,
          isSigned ? subject(e.getJwtContext().getJwtClaims()) : "");
    }
    try {
      NumericDate expires = shown.getExpirationTime();
      NumericDate issued = shown.getIssuedAt();
      // A revocation is kept for as long as a token that it is about may live.
      if (issued.getValue() < 0 || expires.getValue() < 0) {
        return bad("has an exp or iat before 1970", subject(shown));
      }
      if (expires.getValue() - issued.getValue() > MAX_LIFE.toSeconds()) {
        return bad("lives longer than " + MAX_LIFE.toHours() + " hours", subject(shown));
      }
      if (issued.getValue() > now.plus(SKEW).getEpochSecond()) {
        return bad("was issued in the future", subject(shown));
      }
      Identity identity =
          claims.identity(
              shown,
              Instant.ofEpochSecond(issued.getValue()),
              Instant.ofEpochSecond(expires.getValue()));
      return new TokenVerdict.Good(identity);
    } catch (MalformedClaimException e) {
      return bad("has a claim of a wrong type", subject(shown));
    } catch (TokenClaims.BadClaimException e) {
      return bad(String.valueOf(e.getMessage()), subject(shown));
    }
  }

  private static TokenVerdict bad(String what) {
    return bad(what, "");
  }

  private static TokenVerdict bad(String what, String subject) {
    return new TokenVerdict.Bad("showed a token that " + what, subject);
  }

  private static String subject(JwtClaims claims) {
    try {
      String subject = claims.getSubject();
      return subject != null && Identity.isName(subject) ? subject : "";
    } catch (MalformedClaimException e) {
      return "";
    }
  }

  /** Returns a reason for the log; the exception's own message holds the token's claims. */
  private static String reason(InvalidJwtException e) {
    for (ErrorCodeValidator.Error error : e.getErrorDetails()) {
      String known =
          switch (error.getErrorCode()) {
            case ErrorCodes.EXPIRED -> "has expired";
            case ErrorCodes.EXPIRATION_MISSING -> "has no exp";
            case ErrorCodes.ISSUED_AT_MISSING -> "has no iat";
            case ErrorCodes.EXPIRATION_TOO_FAR_IN_FUTURE ->
                "expires more than " + MAX_LIFE.toHours() + " hours from now";
            case ErrorCodes.NOT_YET_VALID -> "is not valid yet";
            case ErrorCodes.ISSUER_MISSING -> "has no iss";
            case ErrorCodes.ISSUER_INVALID -> "has another iss than auth.jwt.issuer";
            case ErrorCodes.AUDIENCE_MISSING -> "has no aud";
            case ErrorCodes.AUDIENCE_INVALID -> "has no aud that is auth.jwt.audience";
            case ErrorCodes.SUBJECT_MISSING -> "has no sub";
            case ErrorCodes.SIGNATURE_INVALID -> "has a wrong signature";
            case ErrorCodes.JSON_INVALID -> "holds no JSON";
            default -> "";
          };
      if (!known.isEmpty()) {
        return known;
      }
    }
    return "";
  }
}
