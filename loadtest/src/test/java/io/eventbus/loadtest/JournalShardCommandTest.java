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
import picocli.CommandLine;

class JournalShardCommandTest {
  private final Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  JournalShardCommandTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private int execute(String... args) {
    CommandLine line = LoadTest.commandLine(new Drivers());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(args);
  }

  @Test
  void whatIsConfirmedIsCounted() throws IOException {
    int code =
        execute("journal-shard", "--journals=3", "--seconds=1", "--frame=8", "--data=" + directory);
    assertThat(err.toString()).isEmpty();
    assertThat(code).isEqualTo(LoadTestExitCode.OK);
    assertThat(out.toString()).contains("confirmed", "p99", "for a KiB of payload");
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void wrongArgumentsAreNamed() {
    assertThat(execute("journal-shard", "--window=3", "--data=" + directory))
        .isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("--window: 3 (expected: 64 to 1048576)");
  }
}
