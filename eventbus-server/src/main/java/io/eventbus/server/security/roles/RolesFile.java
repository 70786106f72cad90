package io.eventbus.server.security.roles;

import io.eventbus.server.config.ConfigException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Roles file, and its last version without errors. Confined to one thread at a time. */
public final class RolesFile {
  static final int MAX_BYTES = 1 << 20;

  private final Path file;
  private byte @Nullable [] taken;
  private byte @Nullable [] lastLook;

  /**
   * Creates a file that was not read yet.
   *
   * @param file where it is
   */
  public RolesFile(Path file) {
    this.file = file;
  }

  /**
   * Reads the file.
   *
   * @throws ConfigException if it cannot be read or is wrong: each wrong line, with its number
   */
  public Roles read() {
    byte[] bytes = bytes();
    Roles roles = parse(bytes);
    taken = bytes;
    return roles;
  }

  /**
   * Reads the file if it has changed, and is the same at two calls: half of a file that is being
   * written may be a legal one, without its last rules.
   *
   * @return the roles; empty if nothing is new
   * @throws ConfigException if it cannot be read or is wrong: each wrong line, with its number
   */
  Optional<Roles> readIfChanged() {
    byte[] before = lastLook;
    lastLook = null;
    byte[] bytes = bytes();
    lastLook = bytes;
    if (!Arrays.equals(bytes, before) || Arrays.equals(bytes, taken)) {
      return Optional.empty();
    }
    Roles roles = parse(bytes);
    taken = bytes;
    return Optional.of(roles);
  }

  private Roles parse(byte[] bytes) {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw wrong("is not text (expected: UTF-8)");
    }
    Path name = file.getFileName();
    return new RolesParser(file.toString(), String.valueOf(name)).parse(text);
  }

  private byte[] bytes() {
    // A pipe or a device might never end.
    if (!Files.isRegularFile(file)) {
      throw wrong("is not there, or is no file (expected: a file with roles)");
    }
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file)) {
      bytes = in.readNBytes(MAX_BYTES + 1);
    } catch (IOException e) {
      throw wrong("cannot be read: " + e);
    }
    if (bytes.length > MAX_BYTES) {
      throw wrong("has more than " + MAX_BYTES + " bytes (expected: at most " + MAX_BYTES + ")");
    }
    return bytes;
  }

  private ConfigException wrong(String what) {
    return new ConfigException(List.of(file + ": " + what));
  }
}
