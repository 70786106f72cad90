package io.eventbus.loadtest.faults.buses;

import io.eventbus.loadtest.driver.DriverException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Bit of a journal's files that has changed without a word of the disk. For one thread. */
public final class BitFlip {
  /** Files with rows, with events, and of the log. */
  private static final List<Predicate<String>> KINDS =
      List.of(
          name -> name.endsWith(".sst"),
          name -> name.endsWith(".blob"),
          name -> name.startsWith("log_"));

  private final Path file;
  private final long offset;
  private final int bit;

  private BitFlip(Path file, long offset, int bit) {
    this.file = file;
    this.offset = offset;
    this.bit = bit;
  }

  /**
   * Changes a bit of chance in a closed file of chance.
   *
   * @return empty if there is no file
   */
  static Optional<BitFlip> in(Path directory, Random random) {
    List<Predicate<String>> kinds = new ArrayList<>(KINDS);
    Collections.shuffle(kinds, random);
    for (Predicate<String> kind : kinds) {
      List<Path> files = files(directory, kind);
      if (!files.isEmpty()) {
        Path file = files.get(random.nextInt(files.size()));
        long offset = (long) (random.nextDouble() * file.toFile().length());
        BitFlip flip = new BitFlip(file, offset, random.nextInt(Byte.SIZE));
        flip.apply();
        return Optional.of(flip);
      }
    }
    return Optional.empty();
  }

  private static List<Path> files(Path directory, Predicate<String> kind) {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(Files::isRegularFile)
          .filter(file -> kind.test(String.valueOf(file.getFileName())))
          .filter(file -> file.toFile().length() > 0)
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new DriverException(directory + " cannot be listed", e);
    }
  }

  private void apply() {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, offset);
      one.put(0, (byte) (one.get(0) ^ 1 << bit)).rewind();
      channel.write(one, offset);
    } catch (IOException e) {
      throw new DriverException(file + " keeps its bits", e);
    }
  }

  /** Changes the bit back, if the file is still there. */
  public void undo() {
    if (Files.exists(file)) {
      apply();
    }
  }

  @Override
  public String toString() {
    return "bit " + bit + " of byte " + offset + " of " + file.toFile().length() + " of " + file;
  }
}
