package io.eventbus.server.security.users;

import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.security.AccessChanges;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Identity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Users of a file, as it is now. Any thread may ask; one at a time checks whether the file has
 * changed.
 */
public final class Users {
  private static final Logger LOG = LoggerFactory.getLogger(Users.class);

  /**
   * Maximum cost as a multiple of the usual: what a machine of today bears, with others waiting.
   */
  private static final int MAX_TIMES_USUAL = 4;

  private final Path file;
  private final AccessChanges changes;
  private volatile UsersFile current;
  private @Nullable Version seen;

  /** Version of a file, which changes with its content, whether it is written or replaced. */
  private record Version(Object time, long bytes, @Nullable Object identity) {
    static @Nullable Version of(Path file) {
      try {
        BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
        return new Version(found.lastModifiedTime(), found.size(), found.fileKey());
      } catch (IOException e) {
        return null;
      }
    }
  }

  /**
   * Reads the users.
   *
   * @throws ConfigException if the file cannot be used; names the line and the reason
   */
  public Users(Path file) {
    this(file, AccessChanges.NONE);
  }

  /**
   * Reads the users, and reports when they change.
   *
   * @throws ConfigException as above
   */
  public Users(Path file, AccessChanges changes) {
    this.file = file;
    this.changes = changes;
    this.seen = Version.of(file);
    try {
      this.current = UsersFile.read(file);
    } catch (UsersFile.BadFileException e) {
      ConfigException refused =
          new ConfigException(List.of(ConfigKey.AUTH_USERS_FILE.key() + ": " + e.getMessage()));
      refused.initCause(e);
      throw refused;
    }
  }

  /**
   * Reads the file again if it has changed; if it cannot be used the users stay. May block for as
   * long as the file system does; not on an event loop.
   */
  public synchronized void refresh() {
    // Before it is read: what changes meanwhile is seen the next time.
    Version version = Version.of(file);
    if (version == null ? seen == null : version.equals(seen)) {
      return;
    }
    seen = version;
    try {
      UsersFile read = UsersFile.read(file);
      current = read;
      LOG.info("{} was read again: {} users", file, read.size());
      changes.changed(ConfigKey.AUTH_USERS_FILE.key(), read.size() + " users");
    } catch (UsersFile.BadFileException e) {
      LOG.error("The users stay as they were, because the file cannot be used: {}", e.getMessage());
      changes.refused(ConfigKey.AUTH_USERS_FILE.key(), String.valueOf(e.getMessage()));
    }
  }

  /**
   * Returns the identity of a user without a proof, to try out its permissions; empty if there is
   * no such user.
   */
  public Optional<Identity> identity(String name) {
    return Optional.ofNullable(current.find(name))
        .map(user -> user.identity(AuthenticationMethod.PASSWORD));
  }

  /**
   * Returns notes on what is probably not meant.
   *
   * @param roles known roles; null where no file has any
   * @param operators the account of operators, whose roles need not be among them; null for none
   */
  public List<String> notes(@Nullable Set<String> roles, @Nullable String operators) {
    List<String> notes = new ArrayList<>();
    UsersFile users = current;
    if (users.size() == 0) {
      notes.add(file + " has no users: nobody can log in with a password");
    }
    for (User user : users.all()) {
      for (String role : user.roles()) {
        if (roles != null && !user.account().equals(operators) && !roles.contains(role)) {
          notes.add(
              file + ": " + user.name() + " has the role " + role + ", which no roles file has");
        }
      }
      int times = user.hash() == null ? 0 : user.hash().timesUsual();
      if (times > MAX_TIMES_USUAL) {
        notes.add(
            file
                + ": to check the password of "
                + user.name()
                + " costs "
                + times
                + " times what a hash of eventbus hash-password does (expected: at most "
                + MAX_TIMES_USUAL
                + " times, because a login may take 2 s)");
      }
    }
    return notes;
  }

  UsersFile current() {
    return current;
  }
}
