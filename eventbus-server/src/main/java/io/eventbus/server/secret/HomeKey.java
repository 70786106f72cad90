package io.eventbus.server.secret;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;

/**
 * File {@code .eventbus/resume-key} in the home of a user, which all buses share that this user
 * runs: created by the first of them, readable by this user only, and whole or not there.
 */
final class HomeKey {
  private static final int KEY_BYTES = 32;

  private final Path home;
  private final Path directory;
  private final Path file;

  HomeKey(Path home) {
    this.home = home;
    this.directory = home.resolve(".eventbus");
    this.file = directory.resolve("resume-key");
  }

  Path file() {
    return file;
  }

  /** Returns the file, which exists now. Other threads and processes may do the same meanwhile. */
  Path findOrCreate() throws IOException {
    if (!Files.exists(file)) {
      // A user without a home has "?", and the user of a container often a home that is not
      // there.
      if (!home.isAbsolute() || !Files.isDirectory(home)) {
        throw new NotDirectoryException(home.toString());
      }
      create();
    }
    return file;
  }

  private void create() throws IOException {
    if (directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.createDirectories(
          directory,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } else {
      Files.createDirectories(directory);
    }
    // Temporary files are the user's own from the start.
    Path temporary = Files.createTempFile(directory, "resume-key", ".new");
    try {
      write(temporary);
      publish(temporary);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  private static void write(Path temporary) throws IOException {
    ByteBuffer key = ByteBuffer.allocate(KEY_BYTES);
    new SecureRandom().nextBytes(key.array());
    try (FileChannel out = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
      while (key.hasRemaining()) {
        out.write(key);
      }
      out.force(true);
    }
  }

  /**
   * Publishes the key. The first bus wins: unlike a move, a link never replaces what another bus
   * uses already.
   */
  private void publish(Path temporary) throws IOException {
    try {
      Files.createLink(file, temporary);
    } catch (FileAlreadyExistsException e) {
      // Made by another bus meanwhile: that one is used.
      return;
    } catch (UnsupportedOperationException | FileSystemException e) {
      moveWithoutLinks(temporary);
    }
  }

  private void moveWithoutLinks(Path temporary) throws IOException {
    try {
      Files.move(temporary, file);
    } catch (FileAlreadyExistsException e) {
      // As above.
      return;
    }
  }
}
