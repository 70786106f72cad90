package io.eventbus.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class JournalStoreCommandTest {
  private final Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  JournalStoreCommandTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private int execute(String... args) {
    CommandLine line = LoadTest.commandLine(new Drivers());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(args);
  }

  @ParameterizedTest
  @ValueSource(strings = {"blob", "plain", "segments"})
  void whatIsKeptIsReadAgain(String mode) throws IOException {
    int code =
        execute(
            "journal-store",
            "--mode=" + mode,
            "--journals=3",
            "--total=8MiB",
            "--retain=2MiB",
            "--data=" + directory);
    assertThat(err.toString()).isEmpty();
    assertThat(code).isEqualTo(LoadTestExitCode.OK);
    assertThat(out.toString()).contains("scan        2 MB", "p50", "bytes for a byte of payload");
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void wrongArgumentsAreNamed() {
    assertThat(execute("journal-store", "--mode=tape", "--data=" + directory))
        .isEqualTo(LoadTestExitCode.USAGE);
    assertThat(execute("journal-store", "--total=much", "--data=" + directory))
        .isEqualTo(LoadTestExitCode.USAGE);
    assertThat(execute("journal-store", "--total=2MiB", "--retain=4MiB", "--data=" + directory))
        .isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString())
        .contains(
            "--mode: tape (expected: blob, plain or segments)",
            "--total: much (expected: such as 512MiB)",
            "--retain: 4194304 (expected: 1048576 to 2097152)");
  }
}
