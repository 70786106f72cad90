package io.eventbus.journal.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {
  private final Path directory;

  NativeLibraryTest(@TempDir Path directory) {
    this.directory = directory;
  }

  /** Process on a platform for which there is no library. */
  static final class Loading {
    private Loading() {}

    public static void main(String[] args) {
      try {
        StoreResources.open(Path.of(args[0])).close();
        System.out.println("loaded");
      } catch (IOException e) {
        System.out.println(e.getMessage());
      }
    }
  }

  @Test
  @Timeout(120)
  void aPlatformWithoutALibraryIsNamed() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx32m",
                "-Dos.arch=abacus",
                "-cp",
                System.getProperty("java.class.path"),
                Loading.class.getName(),
                directory.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(said).contains(directory.toString(), "abacus", System.getProperty("os.name"));
  }
}
