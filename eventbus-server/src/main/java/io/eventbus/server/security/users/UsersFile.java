package io.eventbus.server.security.users;

import io.eventbus.server.security.Identity;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The users of a file, read whole or not at all. Immutable; any thread.
 *
 * <pre>
 *   # name:hash:account:roles
 *   alice:$argon2id$v=19$m=19456,t=2,p=1$…$…:acme:trader,reader
 *   spiffe://example.org/billing:*:acme:reader
 * </pre>
 */
final class UsersFile {
  static final int MAX_BYTES = 4 * 1024 * 1024;
  static final int MAX_USERS = 20_000;

  /** Maximum that fits into {@code Hello.user}. */
  private static final int MAX_NAME_BYTES = 255;

  private static final int MAX_ROLES = 64;

  /** Secret of this process: nobody else knows which name has which decoy. */
  private static final byte[] SALT = new byte[16];

  static {
    new SecureRandom().nextBytes(SALT);
  }

  private final Map<String, User> users;
  // Costly hashes are as frequent among decoys as among the users.
  private final List<PasswordHash> decoys;

  private UsersFile(Map<String, User> users, List<PasswordHash> decoys) {
    this.users = users;
    this.decoys = decoys;
  }

  /** File that cannot be used. */
  static final class BadFileException extends Exception {
    private static final long serialVersionUID = 1;

    BadFileException(String message) {
      super(message);
    }
  }

  /**
   * Reads a file.
   *
   * @throws BadFileException if it is too long or a line is wrong; the message names file, line and
   *     what was expected, and holds no hash
   */
  static UsersFile read(Path file) throws BadFileException {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file)) {
      bytes = in.readNBytes(MAX_BYTES + 1);
    } catch (IOException e) {
      throw new BadFileException(file + " cannot be read: " + e);
    }
    if (bytes.length > MAX_BYTES) {
      throw new BadFileException(file + " has more than " + MAX_BYTES + " bytes");
    }
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new BadFileException(file + " is not UTF-8");
    }
    try {
      return parse(text.lines().toList());
    } catch (BadFileException e) {
      throw new BadFileException(file + ":" + e.getMessage());
    }
  }

  /**
   * Parses lines.
   *
   * @throws BadFileException with the number of the line, from 1, and what is wrong
   */
  static UsersFile parse(List<String> lines) throws BadFileException {
    Map<String, User> users = new HashMap<>();
    List<PasswordHash> decoys = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      User user;
      try {
        user = user(line);
      } catch (IllegalArgumentException e) {
        throw new BadFileException((i + 1) + ": " + e.getMessage());
      }
      if (users.put(user.name(), user) != null) {
        throw new BadFileException((i + 1) + ": " + user.name() + " is there a second time");
      }
      if (users.size() > MAX_USERS) {
        throw new BadFileException((i + 1) + ": more than " + MAX_USERS + " users");
      }
      if (user.hash() != null) {
        decoys.add(user.hash());
      }
    }
    return new UsersFile(Map.copyOf(users), List.copyOf(decoys));
  }

  /** Parses a line; the last three colons count, because a name may be a URI. */
  private static User user(String line) {
    int roles = line.lastIndexOf(':');
    int account = line.lastIndexOf(':', roles - 1);
    int hash = line.lastIndexOf(':', account - 1);
    if (hash < 1) {
      throw new IllegalArgumentException("no user (expected: name:hash:account:roles)");
    }
    String name = line.substring(0, hash);
    if (!Identity.isName(name)
        || name.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_BYTES
        || name.chars().anyMatch(Character::isWhitespace)) {
      throw new IllegalArgumentException(
          "a name (expected: 1 to " + MAX_NAME_BYTES + " bytes without white space)");
    }
    String hashed = line.substring(hash + 1, account);
    return new User(
        name,
        hashed.equals("*") ? null : PasswordHash.parse(hashed),
        account(line.substring(account + 1, roles)),
        roles(line.substring(roles + 1)));
  }

  private static String account(String text) {
    if (!text.isEmpty() && !Identity.isLabel(text)) {
      throw new IllegalArgumentException("account \"" + text + "\" " + Identity.LABEL_EXPECTED);
    }
    return text;
  }

  private static Set<String> roles(String text) {
    Set<String> roles = new LinkedHashSet<>();
    if (text.isEmpty()) {
      return roles;
    }
    for (String part : text.split(",", -1)) {
      String role = part.strip();
      if (!Identity.isLabel(role)) {
        throw new IllegalArgumentException("role \"" + role + "\" " + Identity.LABEL_EXPECTED);
      }
      roles.add(role);
    }
    if (roles.size() > MAX_ROLES) {
      throw new IllegalArgumentException("more than " + MAX_ROLES + " roles");
    }
    return Collections.unmodifiableSet(roles);
  }

  /** Returns a user, or null. */
  @Nullable User find(String name) {
    return users.get(name);
  }

  /**
   * Returns a hash for a user who is not in the file, null if the file has no password: always the
   * same one for a name, and any of the file's. If hashes cost differently, the time of a refusal
   * reveals no more of such a name than of a user's.
   */
  @Nullable PasswordHash decoy(String name) {
    if (decoys.isEmpty()) {
      return null;
    }
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(SALT);
      byte[] hash = digest.digest(name.getBytes(StandardCharsets.UTF_8));
      return decoys.get(Math.floorMod(ByteBuffer.wrap(hash).getInt(), decoys.size()));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  Collection<User> all() {
    return users.values();
  }

  int size() {
    return users.size();
  }
}
