package io.eventbus.cli.permissions;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Text;
import io.eventbus.server.config.ClientQuotas;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.roles.RolePolicy;
import io.eventbus.server.security.roles.Roles;
import io.eventbus.server.security.roles.RolesFile;
import io.eventbus.server.security.users.Users;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options with the client, as if a bus had authenticated it. */
final class PermissionOptions {
  @Option(
      names = "--roles",
      required = true,
      paramLabel = "FILE",
      description = "The roles file, as in auth.roles-file.")
  Path roles = Path.of("");

  @Option(
      names = "--as",
      paramLabel = "SUBJECT",
      description =
          "The client's subject; without --role it gets the roles of [default]. With neither the"
              + " client is anonymous.")
  @Nullable String subject;

  @Option(
      names = "--users",
      paramLabel = "FILE",
      description = "The users file, as in auth.users-file: --as names a user of it.")
  @Nullable Path users;

  @Option(
      names = "--role",
      paramLabel = "ROLE",
      description = "A role of the client; may be repeated.")
  List<String> names = new ArrayList<>();

  @Option(names = "--account", paramLabel = "ACCOUNT", description = "The client's account.")
  String account = "";

  @Option(names = "--client", paramLabel = "NAME", description = "How the client calls itself.")
  String client = "";

  @Option(
      names = "--claim",
      paramLabel = "NAME=VALUE",
      description = "A claim of the client's token; may be repeated.")
  Map<String, String> claims = new LinkedHashMap<>();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      description = "text or json (default: ${DEFAULT-VALUE}).")
  Output output = Output.TEXT;

  /** Format of a printed result. */
  enum Output {
    TEXT,
    JSON;

    /** Returns the name as the user types it. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Returns the permissions of the client.
   *
   * @throws io.eventbus.server.config.ConfigException if the file is wrong
   */
  Permissions permissions() {
    return policy().permissions(identity(), new Credentials(null, client, false));
  }

  /**
   * Returns the quotas of the client by the file; its token and the configuration may set others.
   *
   * @throws io.eventbus.server.config.ConfigException if the file is wrong
   */
  ClientQuotas quotas() {
    return policy().quotas(identity());
  }

  private RolePolicy policy() {
    Roles read = new RolesFile(roles).read();
    for (String name : names) {
      if (!read.names().contains(name)) {
        String expected = String.join(", ", read.names());
        throw wrong(
            "--role "
                + Text.printable(name)
                + ": "
                + read.fileName()
                + " does not have it (expected: "
                + expected
                + ")");
      }
    }
    return new RolePolicy(read);
  }

  private Identity identity() {
    if (users != null) {
      if (subject == null || !names.isEmpty() || !account.isEmpty()) {
        throw wrong("--users wants --as, and neither --role nor --account: the file has them");
      }
      String name = subject;
      Identity user =
          new Users(users)
              .identity(name)
              .orElseThrow(
                  () -> wrong("there is no user \"" + Text.printable(name) + "\" in " + users));
      return identity(name, user.account(), user.method(), user.roles());
    }
    boolean isAnonymous = subject == null && names.isEmpty();
    return identity(
        subject == null ? "" : subject,
        account,
        isAnonymous ? AuthenticationMethod.NONE : AuthenticationMethod.JWT,
        new LinkedHashSet<>(names));
  }

  private Identity identity(
      String name, String ofAccount, AuthenticationMethod method, Set<String> roles) {
    try {
      return new Identity(ofAccount, name, method, roles, claims, Map.of(), Map.of(), null, null);
    } catch (IllegalArgumentException e) {
      throw wrong(String.valueOf(e.getMessage()));
    }
  }

  private static CliFailure wrong(String message) {
    return new CliFailure(ExitCode.USAGE, message);
  }
}
