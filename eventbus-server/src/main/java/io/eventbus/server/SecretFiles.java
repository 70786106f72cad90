package io.eventbus.server;

import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Tells of files with secrets that others can read. */
final class SecretFiles {
  private static final Set<PosixFilePermission> OF_OTHERS =
      EnumSet.of(
          PosixFilePermission.GROUP_READ,
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE);

  private SecretFiles() {}

  /**
   * Warns of the files that are read where this package cannot be asked: private keys, and the
   * secrets of clients, operators and links.
   *
   * @param log of the one that starts the bus
   */
  static void warn(Logger log, ServerConfig config) {
    String any = "who reads it can be anybody whom it lets in";
    warnIfOpen(log, ConfigKey.AUTH_TOKEN_FILE, config.auth().token().file(), any);
    warnIfOpen(log, ConfigKey.ADMIN_TOKEN_FILE, config.admin().access().token().file(), any);
    warnIfOpen(
        log,
        ConfigKey.CLUSTER_SECRET_FILE,
        config.cluster().security().secretFile(),
        "who reads it can become a member of the cluster");
    String key = "who reads it can pretend to be this bus";
    warnIfOpen(log, ConfigKey.TLS_KEY, config.tls().key(), key);
    warnIfOpen(log, ConfigKey.CLUSTER_TLS_KEY, config.cluster().security().key(), key);
    warnIfOpen(log, ConfigKey.ADMIN_TLS_KEY, config.admin().access().key(), key);
  }

  private static void warnIfOpen(Logger log, ConfigKey key, @Nullable Path file, String danger) {
    if (file != null) {
      warnIfOpen(log, "file of " + key.key(), file, danger);
    }
  }

  /**
   * Warns if other users of the machine can read or write a file.
   *
   * @param log of the one that reads it
   * @param what the file holds
   * @param danger what comes of that
   */
  static void warnIfOpen(Logger log, String what, Path file, String danger) {
    Set<PosixFilePermission> permissions;
    try {
      permissions = Files.getPosixFilePermissions(file);
    } catch (IOException | UnsupportedOperationException e) {
      // A file system without such permissions.
      return;
    }
    if (permissions.stream().anyMatch(OF_OTHERS::contains)) {
      log.warn(
          "The {}, {}, has the permissions {} (expected: {}): {}.",
          what,
          file,
          PosixFilePermissions.toString(permissions),
          "rw-------",
          danger);
    }
  }
}
