package io.eventbus.server.secret;

import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Check for files that other users of the machine can read or write, and should not. */
public final class SecretFiles {
  private static final Set<PosixFilePermission> OF_OTHERS =
      EnumSet.of(
          PosixFilePermission.GROUP_READ,
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE);

  private static final Set<PosixFilePermission> WRITES =
      EnumSet.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

  private SecretFiles() {}

  /**
   * Checks the files of a configuration that hold secrets or permissions.
   *
   * @return a line for each that others can read, or write
   */
  public static List<String> notes(ServerConfig config) {
    List<String> notes = new ArrayList<>();
    String any = "who reads it can be anybody whom it lets in";
    add(notes, ConfigKey.AUTH_TOKEN_FILE, config.auth().token().file(), OF_OTHERS, any);
    add(notes, ConfigKey.ADMIN_TOKEN_FILE, config.admin().access().token().file(), OF_OTHERS, any);
    add(
        notes,
        ConfigKey.AUTH_USERS_FILE,
        config.auth().usersFile(),
        OF_OTHERS,
        "who reads it can try passwords, and who writes it can let anybody in");
    add(
        notes,
        ConfigKey.AUTH_JWT_SECRET_FILE,
        config.auth().jwt().secretFile(),
        OF_OTHERS,
        "who reads it can make a token of any client");
    String keys = "who writes it can make a token of any client";
    add(notes, ConfigKey.AUTH_JWT_PUBLIC_KEYS, config.auth().jwt().publicKeys(), WRITES, keys);
    add(
        notes,
        ConfigKey.AUTH_ROLES_FILE,
        config.auth().rolesFile(),
        WRITES,
        "who writes it can give any right");
    add(
        notes,
        ConfigKey.CLUSTER_SECRET_FILE,
        config.cluster().security().secretFile(),
        OF_OTHERS,
        "who reads it can become a member of the cluster");
    String key = "who reads it can pretend to be this bus";
    add(notes, ConfigKey.TLS_KEY, config.tls().key(), OF_OTHERS, key);
    add(notes, ConfigKey.CLUSTER_TLS_KEY, config.cluster().security().key(), OF_OTHERS, key);
    add(notes, ConfigKey.ADMIN_TLS_KEY, config.admin().access().key(), OF_OTHERS, key);
    return notes;
  }

  private static void add(
      List<String> notes,
      ConfigKey key,
      @Nullable Path file,
      Set<PosixFilePermission> tooMuch,
      String danger) {
    if (file != null) {
      note("file of " + key.key(), file, tooMuch, danger).ifPresent(notes::add);
    }
  }

  /**
   * Warns if other users of the machine can read or write a file.
   *
   * @param log of the reader
   * @param what content of the file
   * @param danger consequence of that
   */
  static void warnIfOpen(Logger log, String what, Path file, String danger) {
    note(what, file, OF_OTHERS, danger).ifPresent(log::warn);
  }

  private static Optional<String> note(
      String what, Path file, Set<PosixFilePermission> tooMuch, String danger) {
    Set<PosixFilePermission> permissions;
    try {
      permissions = Files.getPosixFilePermissions(file);
    } catch (IOException | UnsupportedOperationException e) {
      // A file system without such permissions.
      return Optional.empty();
    }
    return permissions.stream().noneMatch(tooMuch::contains)
        ? Optional.empty()
        : Optional.of(
            "The %s, %s, has the permissions %s (expected: %s): %s."
                .formatted(
                    what,
                    file,
                    PosixFilePermissions.toString(permissions),
                    tooMuch.equals(WRITES) ? "rw-r--r--" : "rw-------",
                    danger));
  }
}
