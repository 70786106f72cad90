package io.eventbus.server.security;

import io.eventbus.server.config.Quotas;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Proved identity of a client, and the permissions that its issuer adds; a {@link PermissionPolicy}
 * makes permissions of it. Immutable; any thread. Never holds the credentials.
 *
 * @param account of the client; empty for the account of all that have none
 * @param subject its name in the account; empty where the method names none
 * @param allow patterns of topics that a token allows, by action; they may hold templates
 * @param deny patterns of topics that a token forbids, by action; they may hold templates
 * @param issuedAt when the credentials were issued; null for those not issued for a time, as a
 *     password
 * @param expiresAt when the credentials expire; null for as long as it is connected
 */
public record Identity(
    String account,
    String subject,
    AuthenticationMethod method,
    Set<String> roles,
    Map<String, String> claims,
    Map<Action, List<String>> allow,
    Map<Action, List<String>> deny,
    Quotas quotas,
    @Nullable Instant issuedAt,
    @Nullable Instant expiresAt) {
  /** Expectation of {@link #isLabel}, for people. */
  public static final String LABEL_EXPECTED =
      "(expected: up to 64 letters, digits, '.', '-' and '_', first a letter or digit)";

  private static final Pattern LABEL = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");

  /** Maximum length of an account and of a subject, in characters. */
  public static final int MAX_NAME_CHARS = 256;

  /** Checks what numbers and rules are made of. */
  public Identity {
    if ((!account.isEmpty() && !isName(account)) || (!subject.isEmpty() && !isName(subject))) {
      throw new IllegalArgumentException(
          "the account or the subject is not one (expected: 1 to "
              + MAX_NAME_CHARS
              + " characters, no control characters)");
    }
  }

  /**
   * Creates an identity without quotas.
   *
   * @param expiresAt when the credentials expire
   */
  public Identity(
      String account,
      String subject,
      AuthenticationMethod method,
      Set<String> roles,
      Map<String, String> claims,
      Map<Action, List<String>> allow,
      Map<Action, List<String>> deny,
      @Nullable Instant issuedAt,
      @Nullable Instant expiresAt) {
    this(account, subject, method, roles, claims, allow, deny, Quotas.NONE, issuedAt, expiresAt);
  }

  /**
   * Returns whether a text can be an account or a subject; not if it is empty, too long, or holds
   * control characters or halves of characters.
   */
  public static boolean isName(String text) {
    return !text.isEmpty()
        && text.length() <= MAX_NAME_CHARS
        && text.codePoints().noneMatch(Identity::isNoText);
  }

  /**
   * Returns whether a character is a control, or half of a surrogate pair, which has no encoding in
   * UTF-8.
   */
  private static boolean isNoText(int c) {
    return Character.isISOControl(c)
        || (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
  }

  /** Returns whether a text can be the name of an account or of a role. */
  public static boolean isLabel(String text) {
    return LABEL.matcher(text).matches();
  }

  /**
   * Creates an identity without a name: of a client that proved nothing, or only that it knows a
   * shared secret.
   */
  public static Identity nameless(AuthenticationMethod method, Set<String> roles) {
    return new Identity("", "", method, roles, Map.of(), Map.of(), Map.of(), null, null);
  }
}
