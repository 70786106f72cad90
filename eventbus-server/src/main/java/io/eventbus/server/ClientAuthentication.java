package io.eventbus.server;

import io.eventbus.base.Schedules;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.config.AuthConfig;
import io.eventbus.server.config.ClientAuth;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.security.AccessChanges;
import io.eventbus.server.security.AuthenticationChain;
import io.eventbus.server.security.Authenticator;
import io.eventbus.server.security.LoginMethod;
import io.eventbus.server.security.PermissionPolicy;
import io.eventbus.server.security.QuotaPolicy;
import io.eventbus.server.security.Revocations;
import io.eventbus.server.security.ScopePolicy;
import io.eventbus.server.security.SharedTokenLogin;
import io.eventbus.server.security.jwt.JwtLogin;
import io.eventbus.server.security.roles.RolePolicy;
import io.eventbus.server.security.roles.RolesFile;
import io.eventbus.server.security.roles.RolesWatch;
import io.eventbus.server.security.roles.TokenRules;
import io.eventbus.server.security.users.CertificateLogin;
import io.eventbus.server.security.users.PasswordLogin;
import io.eventbus.server.security.users.Users;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Authentication and permissions of clients, put together from the configuration; checks from time
 * to time whether files and keys have changed.
 */
final class ClientAuthentication implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClientAuthentication.class);
  private static final long LOOK_SECONDS = 3;

  private final Authenticator authenticator;
  private final List<LoginMethod> operators;
  private final List<AutoCloseable> parts;
  private final @Nullable JwtLogin tokens;
  private final PermissionPolicy permissions;
  private final QuotaPolicy quotas;
  private final ScheduledExecutorService thread;

  private ClientAuthentication(
      Authenticator authenticator,
      List<LoginMethod> operators,
      List<Runnable> refreshed,
      List<AutoCloseable> parts,
      @Nullable JwtLogin tokens,
      PermissionPolicy permissions,
      QuotaPolicy quotas) {
    this.tokens = tokens;
    this.permissions = permissions;
    this.quotas = quotas;
    this.operators = operators;
    this.authenticator = authenticator;
    this.parts = parts;
    this.thread =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread made = new Thread(task, "eventbus-authentication");
              made.setDaemon(true);
              return made;
            });
    for (Runnable each : refreshed) {
      var unused =
          thread.scheduleWithFixedDelay(
              Schedules.guarded(LOG, "looking for changes of who may come in", each),
              LOOK_SECONDS,
              LOOK_SECONDS,
              TimeUnit.SECONDS);
    }
  }

  /**
   * Creates the authentication of a configuration.
   *
   * @throws ConfigException if a file that it names cannot be used
   */
  static ClientAuthentication of(
      ServerConfig server, Revocations revocations, Advisories advisories, Clock clock) {
    AccessChanges changes = told(advisories);
    AuthConfig config = server.auth();
    List<LoginMethod> methods = new ArrayList<>();
    List<LoginMethod> operators = new ArrayList<>();
    List<Runnable> refreshed = new ArrayList<>();
    List<AutoCloseable> parts = new ArrayList<>();
    Path file = config.usersFile();
    Users users = file == null ? null : new Users(file, changes);
    // The order is that of docs/security.md.
    if (file != null && users != null) {
      PasswordLogin passwords = new PasswordLogin(users);
      methods.add(passwords);
      PasswordLogin ofOperators = PasswordLogin.forOperators(users);
      operators.add(ofOperators);
      refreshed.add(users::refresh);
      parts.add(passwords);
      parts.add(ofOperators);
    }
    config.token().read().ifPresent(token -> methods.add(new SharedTokenLogin(token)));
    JwtLogin tokens = null;
    if (config.jwt().enabled()) {
      tokens = JwtLogin.of(config.jwt(), revocations, changes, clock);
      methods.add(tokens);
      operators.add(tokens);
      refreshed.add(tokens::refresh);
      parts.add(tokens);
    }
    if (server.tls().clientAuth() != ClientAuth.NONE) {
      methods.add(new CertificateLogin(config.certificateSubject(), users));
    }
    Policies policies = policies(config, refreshed, changes);
    QuotaPolicy quotas = policies.quotas().over(server.quotas());
    // These hold for all; a token's rules are added.
    PermissionPolicy permissions = new TokenRules(policies.permissions());
    return new ClientAuthentication(
        new AuthenticationChain(methods, server.anonymousClients(), permissions, quotas),
        List.copyOf(operators),
        refreshed,
        parts,
        tokens,
        permissions,
        quotas);
  }

  private static AccessChanges told(Advisories advisories) {
    return new AccessChanges() {
      @Override
      public void changed(String key, String summary) {
        advisories.tell(new Advisory.AccessChanged(key, summary));
      }

      @Override
      public void refused(String key, String reason) {
        advisories.tell(new Advisory.AccessRefused(key, reason));
      }
    };
  }

  /** Policies of the roles file, or of other keys if there is none. */
  private record Policies(PermissionPolicy permissions, QuotaPolicy quotas) {}

  private static Policies policies(
      AuthConfig config, List<Runnable> refreshed, AccessChanges changes) {
    if (config.rolesFile() == null) {
      return new Policies(new ScopePolicy(config), QuotaPolicy.NONE);
    }
    RolesFile file = new RolesFile(config.rolesFile());
    RolePolicy roles = new RolePolicy(file.read(), config.jwt().claims().roles() != null);
    refreshed.add(new RolesWatch(file, roles, changes)::refresh);
    return new Policies(roles, roles);
  }

  /**
   * Checks the files that a configuration names.
   *
   * @throws ConfigException if one cannot be used
   */
  static void check(ServerConfig server) {
    AuthConfig config = server.auth();
    if (config.usersFile() != null) {
      var unused = new Users(config.usersFile());
    }
    config.token().read();
    JwtLogin.check(config.jwt());
    if (config.rolesFile() != null) {
      new RolesFile(config.rolesFile()).read();
    }
  }

  /**
   * Returns the ways in which operators may say who they are, besides the administration's token.
   */
  List<LoginMethod> operators() {
    return operators;
  }

  /** Returns the age of the fetched keys of tokens; nothing if none are fetched. */
  Optional<Duration> keysAge() {
    return tokens == null ? Optional.empty() : tokens.keysAge();
  }

  /** Returns what clients may do, by the present files. */
  PermissionPolicy permissions() {
    return permissions;
  }

  /** Returns the quotas of clients, by the present files. */
  QuotaPolicy quotas() {
    return quotas;
  }

  Authenticator authenticator() {
    return authenticator;
  }

  /** Ends the threads; whoever asks from now on hears that it cannot be found out. */
  @Override
  public void close() {
    thread.shutdownNow();
    for (AutoCloseable part : parts) {
      try {
        part.close();
      } catch (Exception e) {
        LOG.warn("ending the authentication of clients failed", e);
      }
    }
  }
}
