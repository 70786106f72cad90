package io.eventbus.server;

import io.eventbus.server.config.AuditConfig;
import io.eventbus.server.config.AuthConfig;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.secret.SecretFiles;
import io.eventbus.server.security.jwt.JwtLogin;
import io.eventbus.server.security.roles.RolesFile;
import io.eventbus.server.security.users.Users;
import io.eventbus.server.tls.TlsFiles;
import io.eventbus.server.tls.TlsMaterial;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds what a bus starts with, and what is probably not meant. */
final class ConfigReview {
  private ConfigReview() {}

  /**
   * Reviews a configuration whose files can be used.
   *
   * @param now the time of day, for certificates
   * @return a line for each thing that is probably not meant
   */
  static List<String> notes(ServerConfig config, Instant now) {
    List<String> notes = new ArrayList<>(SecretFiles.notes(config));
    notes.addAll(certificates(config, now));
    AuthConfig auth = config.auth();
    if (auth.usersFile() != null) {
      String account = config.admin().access().account();
      notes.addAll(new Users(auth.usersFile()).notes(roles(auth.rolesFile()), account));
    }
    notes.addAll(JwtLogin.notes(auth.jwt()));
    return notes;
  }

  private static @Nullable Set<String> roles(@Nullable Path file) {
    if (file == null) {
      return null;
    }
    return new RolesFile(file).read().names();
  }

  private static List<String> certificates(ServerConfig config, Instant now) {
    return Stream.of(
            TlsFiles.clients(config.tls()),
            TlsFiles.links(config.cluster().security()),
            TlsFiles.administration(config.admin().access()))
        .flatMap(Optional::stream)
        .filter(files -> TlsMaterial.read(files).expiresAt().isBefore(now))
        .map(
            files ->
                files.certificate()
                    + " has expired: it was good until "
                    + TlsMaterial.read(files).expiresAt())
        .toList();
  }

  /**
   * Checks whether the audit log can be written, without writing it.
   *
   * @throws ConfigException if it cannot
   */
  static void checkAudit(AuditConfig config) {
    Path file = config.file();
    if (file == null) {
      return;
    }
    Path directory = file.toAbsolutePath().getParent();
    while (directory != null && !Files.exists(directory)) {
      // The log makes directories that are missing.
      directory = directory.getParent();
    }
    boolean writable =
        Files.exists(file)
            ? Files.isRegularFile(file) && Files.isWritable(file)
            : directory != null && Files.isDirectory(directory) && Files.isWritable(directory);
    if (!writable) {
      throw new ConfigException(
          List.of(
              ConfigKey.AUDIT_FILE.key()
                  + ": "
                  + file
                  + " cannot be written (expected: a file in a directory that the bus may write)"));
    }
  }
}
