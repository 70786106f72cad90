package io.eventbus.loadtest.driver.eventbus;

import io.eventbus.loadtest.driver.TokenIssuer;
import io.eventbus.loadtest.workload.Login;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Credentials of the clients of a run, and the buses' settings for them. Any thread. */
final class Logins {
  private static final String ROLE = "load";

  /** As an application has them: some rules that allow, some that deny, one for each client. */
  private static final String RULES =
      """
      [everyone]
      deny publish audit.>
      deny subscribe internal.>

      [role reader]
      allow subscribe load.>
      allow subscribe user.{sub}.>
      allow block load.>

      [role load]
      include = reader
      allow publish load.>
      allow publish user.{sub}.>
      deny publish load.limits.>
      """;

  private final Map<String, String> settings = new TreeMap<>();
  private final @Nullable TokenIssuer issuer;
  private final String role;

  /** Prepares them. */
  Logins(Login login, Path directory) {
    this.issuer =
        login == Login.NONE ? null : new TokenIssuer(directory, System.currentTimeMillis() / 1000);
    this.role = login == Login.ROLES ? ROLE : "";
    if (issuer != null) {
      settings.putAll(issuer.settings());
    }
    if (login == Login.ROLES) {
      try {
        Path file = Files.writeString(directory.resolve("roles.conf"), RULES);
        settings.put("auth.roles-file", file.toString());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Returns keys of the buses' configuration. */
  Map<String, String> settings() {
    return Map.copyOf(settings);
  }

  /** Returns what a client shows; null for nothing. */
  @Nullable String token(String name) {
    return issuer == null ? null : issuer.token(name, "", role);
  }
}
