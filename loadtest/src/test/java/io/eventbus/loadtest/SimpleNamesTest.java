package io.eventbus.loadtest;

import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Simple names of all classes of the project, which run in one process here: server, SDK, registry
 * and tools.
 */
class SimpleNamesTest {
  private static final Path SOURCES = Path.of("src", "main", "java");

  @Test
  void noTwoClassesHaveTheSameSimpleName() throws IOException {
    Map<String, List<Path>> files;
    try (Stream<Path> modules = Files.walk(Path.of(".."), 3)) {
      files =
          modules
              .map(m -> m.resolve(SOURCES))
              .filter(Files::isDirectory)
              .flatMap(SimpleNamesTest::classes)
              .collect(groupingBy(f -> f.getFileName().toString()));
    }
    assertThat(files).as("classes of the server are there").containsKey("BusServer.java");
    assertThat(files.values()).allSatisfy(same -> assertThat(same).hasSize(1));
  }

  private static Stream<Path> classes(Path sources) {
    try (Stream<Path> all = Files.walk(sources)) {
      return all
          .filter(f -> f.toString().endsWith(".java"))
          .filter(f -> !f.endsWith("package-info.java") && !f.endsWith("module-info.java"))
          .toList()
          .stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
