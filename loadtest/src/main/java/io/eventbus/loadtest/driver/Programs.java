package io.eventbus.loadtest.driver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the programs of peers that are not on the class path: first in {@code peers/bin} beside the
 * load test, where {@code peers/install.sh} puts them, then on the {@code PATH}.
 *
 * <p>The property {@code loadtest.peers} names another directory. Any thread.
 */
public final class Programs {
  private static final String PROPERTY = "loadtest.peers";
  private static final long VERSION_SECONDS = 10;

  /** Debian keeps servers out of the PATH of ordinary users. */
  private static final Path SERVERS = Path.of("/usr/sbin");

  private Programs() {}

  /**
   * Looks for a program.
   *
   * @return the file, if there is one that can be run
   */
  public static Optional<Path> find(String name) {
    return directories().stream()
        .map(directory -> directory.resolve(name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * Returns whether a program is there, and which version.
   *
   * @param howToGet it, for whoever reads that it is absent
   */
  public static Availability availability(
      String name, String argument, Pattern pattern, String howToGet) {
    Optional<Path> program = find(name);
    if (program.isEmpty()) {
      return Availability.absent("no program " + name + ": " + howToGet);
    }
    String output = output(program.get(), argument);
    Matcher version = pattern.matcher(output);
    return version.find()
        ? Availability.present(version.group(1))
        : Availability.absent(program.get() + " " + argument + " told no version: " + output);
  }

  /** Returns what another JVM needs to find the same programs. */
  public static List<String> jvmOptions() {
    @Nullable String named = System.getProperty(PROPERTY);
    return named == null ? List.of() : List.of("-D" + PROPERTY + "=" + named);
  }

  private static List<Path> directories() {
    List<Path> all = new ArrayList<>();
    @Nullable String named = System.getProperty(PROPERTY);
    if (named != null) {
      all.add(Path.of(named));
    }
    all.add(besideTheCode());
    Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":", -1))
        .filter(directory -> !directory.isEmpty())
        .map(Path::of)
        .forEach(all::add);
    all.add(SERVERS);
    return all;
  }

  /** Classes and jar both are in {@code target}, which is beside {@code peers}. */
  private static Path besideTheCode() {
    try {
      @Nullable CodeSource source = Programs.class.getProtectionDomain().getCodeSource();
      if (source != null) {
        @Nullable Path target = Path.of(source.getLocation().toURI()).getParent();
        if (target != null) {
          return target.resolveSibling("peers").resolve("bin");
        }
      }
    } catch (URISyntaxException e) {
      throw new IllegalStateException("the code's own place is no address", e);
    }
    return Path.of("peers", "bin");
  }

  private static String output(Path program, String argument) {
    try {
      return SystemCommand.result(VERSION_SECONDS, program.toString(), argument).output();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while asking " + program + " for its version", e);
    }
  }
}
