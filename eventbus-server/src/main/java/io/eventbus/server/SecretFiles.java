package io.eventbus.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
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
