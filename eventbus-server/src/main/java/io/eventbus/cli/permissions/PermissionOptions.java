package io.eventbus.cli.permissions;

import io.eventbus.cli.config.ConfigOptions;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Text;
import io.eventbus.cli.console.TokenFile;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Identity;
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
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Options with the client, as if a bus had authenticated it. */
final class PermissionOptions {
  @Mixin ConfigOptions configuration = new ConfigOptions();

  @Option(
      names = "--roles",
      paramLabel = "FILE",
      description =
          "The roles file (default: auth.roles-file of the configuration). Without --config only"
              + " this file is looked at.")
  @Nullable Path roles;

  @Option(
      names = "--as",
      paramLabel = "SUBJECT",
      description =
          "The client's subject; without --role it gets the roles of [default]. With neither the"
              + " client is anonymous. A user of the configuration has the account and roles of its"
              + " line.")
  @Nullable String subject;

  @Option(
      names = "--users",
      paramLabel = "FILE",
      description =
          "The users file (default: auth.users-file of the configuration): --as names a user of it.")
  @Nullable Path users;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "File with the client's token in its first line, which is checked with the keys of the"
              + " configuration; the token's own rules count.")
  @Nullable Path tokenFile;

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
   * Finds out who the client is, and what decides on it.
   *
   * @param spec the command
   * @throws io.eventbus.server.config.ConfigException if a file is wrong
   * @throws CliFailure if the options do not fit together, or a bus refuses the client
   */
  TriedClient client(CommandSpec spec, CliContext context) {
    Path file = roles;
    ServerConfig server = configuration(spec, context.variables());
    if (server != null && file == null) {
      file = server.auth().rolesFile();
    }
    Roles read = file == null ? null : new RolesFile(file).read();
    for (String name : names) {
      if (read != null && !read.names().contains(name)) {
        throw wrong(
            "--role "
                + Text.printable(name)
                + ": "
                + read.fileName()
                + " does not have it (expected: "
                + String.join(", ", read.names())
                + ")");
      }
    }
    return TriedClient.of(read, server, identity(server), client, context.err());
  }

  /** Returns the configuration of a bus; null where only a roles file is tried out. */
  private @Nullable ServerConfig configuration(CommandSpec spec, Map<String, String> variables) {
    boolean isNamed =
        configuration.isGiven() || !variables.getOrDefault("EVENTBUS_CONFIG", "").isEmpty();
    if (roles != null && !configuration.isGiven()) {
      if (tokenFile != null) {
        throw wrong("--token-file wants the keys of a configuration (expected: --config FILE)");
      }
      return null;
    }
    ServerConfig server = configuration.load(spec, variables).config();
    if (!isNamed && server.auth().rolesFile() == null) {
      throw wrong(
          "no rules (expected: --roles FILE, or --config FILE with the configuration of a bus)");
    }
    return server;
  }

  private Identity identity(@Nullable ServerConfig server) {
    if (tokenFile != null && server != null) {
      if (subject != null
          || users != null
          || !names.isEmpty()
          || !account.isEmpty()
          || !claims.isEmpty()) {
        throw wrong(
            "--token-file wants neither --as, --users, --role, --account nor --claim: the token has"
                + " them");
      }
      return TokenCheck.identity(server.auth(), TokenFile.read(tokenFile), client);
    }
    Path file = users;
    boolean isOther = !names.isEmpty() || !account.isEmpty();
    if (file != null && (subject == null || isOther)) {
      throw wrong("--users wants --as, and neither --role nor --account: the file has them");
    }
    if (file == null && server != null && !isOther) {
      file = server.auth().usersFile();
    }
    String name = subject;
    if (file != null && name != null) {
      Optional<Identity> user = new Users(file).identity(name);
      if (user.isPresent()) {
        Identity found = user.get();
        return identity(name, found.account(), found.method(), found.roles());
      }
      if (users != null || server == null || !server.auth().jwt().enabled()) {
        throw wrong("there is no user \"" + Text.printable(name) + "\" in " + file);
      }
    }
    boolean isAnonymous = name == null && names.isEmpty();
    return identity(
        name == null ? "" : name,
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
