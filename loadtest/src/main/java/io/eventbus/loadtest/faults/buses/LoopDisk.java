package io.eventbus.loadtest.faults.buses;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverStopHook;
import io.eventbus.loadtest.driver.SystemCommand;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * File system of its own for one server, ext4 in a file: it can lose its power, be full, and stand
 * still. Needs root. For one thread, but for the hook that removes it when the JVM ends.
 *
 * <p>A loss of power is the ioctl {@code EXT4_IOC_SHUTDOWN} without a flush of the journal: what
 * was not synced is gone with the next mount, and every write fails until then.
 */
public final class LoopDisk implements AutoCloseable {
  /** Flag 2: the journal is not flushed. */
  private static final String LOSE_POWER =
      "import fcntl,os,struct,sys;"
          + "fcntl.ioctl(os.open(sys.argv[1],os.O_RDONLY),0x8004587D,struct.pack('I',2))";

  private static final List<String> PROGRAMS =
      List.of("mkfs.ext4", "mount", "umount", "fsfreeze", "sync", "python3");
  private static final String FILLING = "filling";
  private static final int FILLING_STEP = 64 * 1024;
  private static final long UNMOUNT_SECONDS = 30;
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Path image;
  private final Path directory;

  /** File system in memory that has the image; null if it is on the disk of the machine. */
  private final @Nullable Path memory;

  private final DriverStopHook hook;
  private volatile boolean mounted;
  private volatile boolean frozen;

  private LoopDisk(Path image, Path directory, @Nullable Path memory) {
    this.image = image;
    this.directory = directory;
    this.memory = memory;
    this.hook = DriverStopHook.add(directory.toString(), this::remove);
  }

  /**
   * Returns what is missing for such file systems here.
   *
   * @return the empty text if nothing is
   */
  public static String lacks() {
    return SystemCommand.lacks(PROGRAMS);
  }

  /**
   * Makes and mounts a file system.
   *
   * @param parent the directory in which it is made
   * @param bytes of the file, which takes as much of the disk as is used of it
   * @param inMemory whether the file is in memory, so that writes can fail
   * @throws DriverException if that fails
   */
  public static LoopDisk create(Path parent, String name, long bytes, boolean inMemory) {
    Path directory = parent.resolve(name);
    @Nullable Path memory = inMemory ? parent.resolve(name + "-memory") : null;
    Path image = (memory == null ? parent : memory).resolve(name + ".img");
    try {
      Files.createDirectories(directory);
      if (memory != null) {
        Files.createDirectories(memory);
        String size = "size=" + bytes;
        SystemCommand.run(
            SystemCommand.program("mount"), "-t", "tmpfs", "-o", size, "tmpfs", memory.toString());
      }
      try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
        file.setLength(bytes);
      }
    } catch (IOException e) {
      throw new DriverException("no file system in " + parent, e);
    }
    SystemCommand.run(SystemCommand.program("mkfs.ext4"), "-q", "-F", image.toString());
    LoopDisk disk = new LoopDisk(image, directory, memory);
    disk.mount();
    return disk;
  }

  /** Returns where it is mounted. */
  public Path directory() {
    return directory;
  }

  /** Mounts it, which replays its journal. */
  public void mount() {
    SystemCommand.run(
        SystemCommand.program("mount"), "-o", "loop", image.toString(), directory.toString());
    mounted = true;
  }

  /** Unmounts it; whoever used it has ended, or is about to. */
  public void unmount() {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(UNMOUNT_SECONDS);
    while (true) {
      try {
        SystemCommand.run(SystemCommand.program("umount"), directory.toString());
        mounted = false;
        return;
      } catch (DriverException e) {
        // Memory of a process that was killed is released after its end.
        if (System.nanoTime() - end > 0) {
          throw e;
        }
        LockSupport.parkNanos(POLL_NANOS);
      }
    }
  }

  /**
   * Loses all that is not on the disk, and refuses every write until the next mount.
   *
   * <p>Whoever writes has to stand still: an fsync that is under way meanwhile may return without
   * an error though its bytes are gone, as a machine without power never would.
   */
  public void losePower() {
    SystemCommand.run(SystemCommand.program("python3"), "-c", LOSE_POWER, directory.toString());
  }

  /** Lets every write wait. */
  public void freeze() {
    frozen = true;
    SystemCommand.run(SystemCommand.program("fsfreeze"), "--freeze", directory.toString());
  }

  /** Lets writes go on. */
  public void thaw() {
    SystemCommand.run(SystemCommand.program("fsfreeze"), "--unfreeze", directory.toString());
    frozen = false;
  }

  /**
   * Lets writes and fsyncs fail from now on, because the image finds no room for them. The file
   * system is read-only from the first failure on.
   *
   * @throws DriverException if the image is not in memory
   */
  public void failWrites() {
    fill(inMemory());
  }

  private Path inMemory() {
    if (memory == null) {
      throw new DriverException(image + " is not in memory (expected: a disk that can fail)");
    }
    return memory;
  }

  /** Lets writes succeed again, after {@link #unmount}. */
  public void endFailures() {
    try {
      Files.deleteIfExists(inMemory().resolve(FILLING));
    } catch (IOException e) {
      throw new DriverException(image + " still fails", e);
    }
  }

  /** Takes all room. */
  public void fill() {
    fill(directory);
  }

  private static void fill(Path room) {
    Path file = room.resolve(FILLING);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      ByteBuffer zeros = ByteBuffer.allocate(FILLING_STEP);
      // Ends with "no space left on device".
      while (true) {
        channel.write(zeros.clear());
      }
    } catch (IOException e) {
      return;
    }
  }

  /** Gives the room back. */
  public void free() {
    try {
      Files.deleteIfExists(directory.resolve(FILLING));
      // Otherwise a loss of power soon after brings the file back.
      SystemCommand.run(SystemCommand.program("sync"), "--file-system", directory.toString());
    } catch (IOException e) {
      throw new DriverException(directory + " stays full", e);
    }
  }

  private void remove() {
    if (frozen) {
      thaw();
    }
    if (mounted) {
      unmount();
    }
    try {
      Files.deleteIfExists(image);
      Files.deleteIfExists(directory);
      if (memory != null) {
        endFailures();
        SystemCommand.run(SystemCommand.program("umount"), memory.toString());
        Files.deleteIfExists(memory);
      }
    } catch (IOException e) {
      throw new DriverException(image + " is not deleted", e);
    }
  }

  /** Deletes it; whoever used it has ended. */
  @Override
  public void close() {
    hook.close();
    remove();
  }
}
