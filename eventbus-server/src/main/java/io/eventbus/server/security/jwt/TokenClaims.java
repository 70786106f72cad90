package io.eventbus.server.security.jwt;

import io.eventbus.server.config.JwtConfig.ClaimPaths;
import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Identity;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jspecify.annotations.Nullable;

/**
 * Claims about the client in a token whose signature is right.
 *
 * <pre>
 *   {"sub": "u1", "eventbus": {"account": "acme", "roles": ["trader"],
 *     "allow": {"publish": ["user.{sub}.&gt;"]}, "deny": {"subscribe": ["hr.&gt;"]},
 *     "quota": {"connections": 3, "publish-bytes": 1048576}}}
 * </pre>
 *
 * <p>Account and roles may also be in claims that {@link ClaimPaths} name.
 */
final class TokenClaims {
  private static final int MAX_ROLES = 64;

  /** Maximum of roles in a claim that other applications share: most are not for the bus. */
  private static final int MAX_FOREIGN_ROLES = 512;

  private static final int MAX_PATTERNS = 200;
  private static final int MAX_PATTERN_CHARS = 512;
  private static final int MAX_OTHERS = 64;
  private static final int MAX_OTHER_CHARS = 256;

  private static final String OWN = "eventbus";
  private static final Set<String> KNOWN = Set.of("account", "roles", "allow", "deny", "quota");
  private static final Set<String> REGISTERED =
      Set.of("iss", "sub", "aud", "exp", "nbf", "iat", "jti", OWN);

  private static final Pattern BLANKS = Pattern.compile(" +");

  private final ClaimPaths paths;

  TokenClaims(ClaimPaths paths) {
    this.paths = paths;
  }

  /** Claim that cannot be understood: the message holds nothing of the token. */
  static final class BadClaimException extends Exception {
    private static final long serialVersionUID = 1;

    BadClaimException(String message) {
      super(message);
    }
  }

  /** Reads the claims. */
  Identity identity(JwtClaims claims, Instant issued, Instant expires)
      throws BadClaimException, MalformedClaimException {
    String subject = claims.getSubject();
    if (subject == null || !Identity.isName(subject)) {
      throw new BadClaimException("has a sub that is no name");
    }
    Map<?, ?> own = object(claims.getClaimValue(OWN), OWN);
    for (Object name : own.keySet()) {
      // A restriction that is not understood must not be ignored.
      if (!KNOWN.contains(name)) {
        throw new BadClaimException("has an unknown member in the claim eventbus");
      }
    }
    return new Identity(
        account(claims, own.get("account")),
        subject,
        AuthenticationMethod.JWT,
        roles(claims, own.get("roles")),
        others(claims),
        patterns(own.get("allow"), "eventbus.allow"),
        patterns(own.get("deny"), "eventbus.deny"),
        quotas(own.get("quota")),
        issued,
        expires);
  }

  private static Map<?, ?> object(@Nullable Object value, String name) throws BadClaimException {
    if (value == null) {
      return Map.of();
    }
    if (value instanceof Map<?, ?> map) {
      return map;
    }
    throw new BadClaimException("has a claim " + name + " that is no object");
  }

  private static String account(@Nullable Object value) throws BadClaimException {
    if (value == null) {
      return "";
    }
    if (value instanceof String text && (text.isEmpty() || Identity.isLabel(text))) {
      return text;
    }
    throw new BadClaimException("has a claim eventbus.account that is no account");
  }

  /**
   * Reads the account from the configured claim in place of the bus's own, so that no token without
   * it is admitted to the default account.
   */
  private String account(JwtClaims claims, @Nullable Object own) throws BadClaimException {
    String path = paths.account();
    if (path == null) {
      return account(own);
    }
    Object found = find(claims.getClaimsMap(), path);
    Object value = found instanceof List<?> list && list.size() == 1 ? list.get(0) : found;
    if (!(value instanceof String account) || !Identity.isLabel(account)) {
      throw new BadClaimException("has no account in the claim " + path);
    }
    if (own != null && !own.equals(account)) {
      throw new BadClaimException("has another account in eventbus.account than in " + path);
    }
    return account;
  }

  private Set<String> roles(JwtClaims claims, @Nullable Object own) throws BadClaimException {
    String path = paths.roles();
    if (path == null) {
      return roles(own);
    }
    Set<String> roles = new LinkedHashSet<>(roles(own));
    Object value = find(claims.getClaimsMap(), path);
    List<?> names = value instanceof String text ? List.of(BLANKS.split(text)) : list(value);
    for (Object name : names) {
      // Issuers put in roles of other applications, too.
      if (name instanceof String role && Identity.isLabel(role)) {
        roles.add(role);
      }
    }
    if (roles.size() > MAX_FOREIGN_ROLES) {
      throw new BadClaimException(
          "has more than " + MAX_FOREIGN_ROLES + " roles in the claim " + path);
    }
    return Collections.unmodifiableSet(roles);
  }

  private List<?> list(@Nullable Object value) throws BadClaimException {
    if (value == null) {
      return List.of();
    }
    if (value instanceof List<?> list) {
      return list;
    }
    throw new BadClaimException("has a claim " + paths.roles() + " that is no list and no text");
  }

  /** Finds a claim by its path. The names in it may have dots: URLs do, and ids of clients. */
  private static @Nullable Object find(Map<?, ?> claims, String path) {
    if (claims.containsKey(path)) {
      return claims.get(path);
    }
    for (int dot = path.lastIndexOf('.'); dot >= 0; dot = path.lastIndexOf('.', dot - 1)) {
      if (claims.get(path.substring(0, dot)) instanceof Map<?, ?> object) {
        return find(object, path.substring(dot + 1));
      }
    }
    return null;
  }

  private static Set<String> roles(@Nullable Object value) throws BadClaimException {
    Set<String> roles = new LinkedHashSet<>();
    for (Object each : list(value, "eventbus.roles", MAX_ROLES)) {
      if (!(each instanceof String role) || !Identity.isLabel(role)) {
        throw new BadClaimException("has a claim eventbus.roles with what is no role");
      }
      roles.add(role);
    }
    return Collections.unmodifiableSet(roles);
  }

  private static List<?> list(@Nullable Object value, String name, int max)
      throws BadClaimException {
    if (value == null) {
      return List.of();
    }
    if (value instanceof List<?> list && list.size() <= max) {
      return list;
    }
    throw new BadClaimException("has a claim " + name + " that is no list of at most " + max);
  }

  private static Quotas quotas(@Nullable Object value) throws BadClaimException {
    Map<Quota, Long> limits = new EnumMap<>(Quota.class);
    for (Map.Entry<?, ?> entry : object(value, "eventbus.quota").entrySet()) {
      Optional<Quota> quota = Quota.find(String.valueOf(entry.getKey()), false);
      if (quota.isEmpty()) {
        throw new BadClaimException(
            "has a claim eventbus.quota with an unknown quota (expected: "
                + Quota.keys(false)
                + ")");
      }
      // A fraction, or a number that does not fit, is of another type.
      boolean whole = entry.getValue() instanceof Long || entry.getValue() instanceof Integer;
      if (!whole || !quota.get().isLegal(((Number) entry.getValue()).longValue())) {
        throw new BadClaimException(
            "has a claim eventbus.quota whose "
                + quota.get().key()
                + " is no such limit (expected: a whole number from 0 to "
                + quota.get().max()
                + ")");
      }
      limits.put(quota.get(), ((Number) entry.getValue()).longValue());
    }
    return new Quotas(limits);
  }

  private static Map<Action, List<String>> patterns(@Nullable Object value, String name)
      throws BadClaimException {
    Map<Action, List<String>> patterns = new EnumMap<>(Action.class);
    for (Map.Entry<?, ?> entry : object(value, name).entrySet()) {
      patterns.put(action(entry.getKey(), name), texts(entry.getValue(), name));
    }
    return Collections.unmodifiableMap(patterns);
  }

  private static Action action(@Nullable Object text, String name) throws BadClaimException {
    for (Action action : Action.values()) {
      if (action.name().toLowerCase(Locale.ROOT).equals(text)) {
        return action;
      }
    }
    throw new BadClaimException("has a claim " + name + " with an unknown action");
  }

  private static List<String> texts(@Nullable Object value, String name) throws BadClaimException {
    List<String> texts = new ArrayList<>();
    for (Object each : list(value, name, MAX_PATTERNS)) {
      if (!(each instanceof String text) || text.length() > MAX_PATTERN_CHARS) {
        throw new BadClaimException("has a claim " + name + " with what is no pattern");
      }
      texts.add(text);
    }
    return List.copyOf(texts);
  }

  /** Returns other claims; longer ones are no part of any topic. */
  private static Map<String, String> others(JwtClaims claims) throws BadClaimException {
    Map<String, String> others = new HashMap<>();
    for (Map.Entry<String, Object> claim : claims.getClaimsMap().entrySet()) {
      if (!REGISTERED.contains(claim.getKey())
          && claim.getValue() instanceof String text
          && text.length() <= MAX_OTHER_CHARS) {
        others.put(claim.getKey(), text);
      }
    }
    if (others.size() > MAX_OTHERS) {
      throw new BadClaimException("has more than " + MAX_OTHERS + " claims");
    }
    return Map.copyOf(others);
  }
}
