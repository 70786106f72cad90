package io.eventbus.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SyncedFileTest {
  @Test
  void replacesTheWholeContentAndLeavesNothingBeside(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("name");
    SyncedFile.write(file, "a long first content\n");
    // As a process leaves it that ends while it writes.
    Files.writeString(directory.resolve("name.new"), "a part of something that is longer");
    SyncedFile.write(file, "Ünter\n");
    assertThat(file).hasContent("Ünter\n");
    try (var files = Files.list(directory)) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void makesTheDirectoriesThatAreMissing(@TempDir Path directory) throws Exception {
    Path wanted = directory.resolve("a/b/c");
    for (int i = 0; i < 2; i++) {
      SyncedFile.createDirectories(wanted);
      assertThat(wanted).isDirectory();
    }
    Path file = Files.createFile(wanted.resolve("file"));
    assertThatThrownBy(() -> SyncedFile.createDirectories(file.resolve("d")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file.toString());
  }
}
