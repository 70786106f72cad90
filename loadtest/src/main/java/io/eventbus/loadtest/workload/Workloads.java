package io.eventbus.loadtest.workload;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The workloads that can be run: those that come with the load test and those in files of the
 * user's. Immutable; any thread.
 */
public final class Workloads {
  private static final String SHIPPED = "/workloads";
  private static final String SUFFIX = ".yaml";

  private final List<Workload> shipped;

  private Workloads(List<Workload> shipped) {
    this.shipped = shipped;
  }

  /**
   * Reads the workloads that come with the load test.
   *
   * @throws WorkloadException if one of them is wrong
   */
  public static Workloads shipped() {
    @Nullable URL url = Workloads.class.getResource(SHIPPED);
    if (url == null) {
      throw new WorkloadException(SHIPPED + " is not on the class path (expected: in the jar)");
    }
    try {
      URI uri = url.toURI();
      if (uri.getScheme().equals("jar")) {
        try (FileSystem jar = FileSystems.newFileSystem(uri, Map.of())) {
          return new Workloads(readAll(jar.getPath(SHIPPED)));
        }
      }
      return new Workloads(readAll(Path.of(uri)));
    } catch (URISyntaxException e) {
      throw new WorkloadException(url + ": not an address of files", e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Workload> readAll(Path directory) throws IOException {
    List<Workload> all = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(f -> f.toString().endsWith(SUFFIX)).sorted().toList()) {
        all.addAll(read(file));
      }
    }
    return List.copyOf(all);
  }

  /**
   * Reads one file.
   *
   * @throws WorkloadException if it is wrong, saying where
   * @throws IOException if it cannot be read
   */
  public static List<Workload> read(Path file) throws IOException {
    return WorkloadFile.parse(file.toString(), Files.readString(file));
  }

  /** Returns all that come with the load test. */
  public List<Workload> all() {
    return shipped;
  }

  /**
   * Finds what a word on the command line means: a workload ({@code one-to-one/128B}), a family
   * without its smoke variant ({@code one-to-one}), both also with {@code *} for any letters
   * ({@code federation-shape/*-64B}), {@code smoke} for every smoke variant, {@code all} for
   * everything else, or a file that ends with {@code .yaml}.
   *
   * @throws WorkloadException if there is none of that name, or the file is wrong
   */
  public List<Workload> select(String word) {
    if (word.endsWith(SUFFIX)) {
      try {
        return read(Path.of(word));
      } catch (IOException e) {
        throw new WorkloadException(word + ": cannot be read: " + e, e);
      }
    }
    List<Workload> chosen =
        shipped.stream()
            .filter(
                w ->
                    switch (word) {
                      case "smoke" -> w.isSmoke();
                      case "all" -> !w.isSmoke();
                      default -> w.name().equals(word) || isMeant(word, w);
                    })
            .toList();
    if (chosen.isEmpty()) {
      throw new WorkloadException(
          "workload: "
              + word
              + " (expected: smoke, all, a file .yaml or one of "
              + String.join(", ", shipped.stream().map(Workload::family).distinct().toList())
              + ")");
    }
    return chosen;
  }

  private static boolean isMeant(String word, Workload w) {
    return !w.isSmoke() && (matches(word, w.name()) || matches(word, w.family()));
  }

  private static boolean matches(String word, String name) {
    return name.matches(
        Arrays.stream(word.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*")));
  }
}
