package io.eventbus.loadtest.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriverStopHookTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @TempDir private Path directory = Path.of("");

  private static void write(String file, String text) {
    try {
      Files.writeString(Path.of(file), text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A server that says goodbye when it is asked to end, and is killed silently. */
  static final class Server {
    private Server() {}

    public static void main(String[] args) throws InterruptedException {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> write(args[0], "goodbye")));
      System.out.println("ready");
      new CountDownLatch(1).await();
    }
  }

  /** A load test that ends with its server at work. */
  static final class Starter {
    private Starter() {}

    public static void main(String[] args) {
      String file = args[0];
      DriverStopHook done = DriverStopHook.add("done", () -> write(file + ".done", "too late"));
      done.close();
      DriverStopHook.add(
          "asked", () -> write(file + ".stopping", "" + DriverStopHook.isStopping()));
      ServerProcess server =
          ServerProcess.startJava(
              "server", List.of("-Xmx32m"), Server.class.getName(), List.of(file));
      server.awaitOutput(Pattern.compile("ready"), DEADLINE);
      System.exit(DriverStopHook.isStopping() ? 1 : 0);
    }
  }

  @Test
  void aServerIsAskedToEndAndItsOutputIsDeleted() throws Exception {
    Path temporary = Files.createDirectory(directory.resolve("tmp"));
    Path said = directory.resolve("said");
    Process process =
        new ProcessBuilder(
                JavaCommand.of(
                    List.of("-Xmx64m", "-Djava.io.tmpdir=" + temporary),
                    Starter.class.getName(),
                    List.of(said.toString())))
            .inheritIO()
            .start();
    assertThat(process.waitFor(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    assertThat(process.exitValue()).isZero();
    assertThat(said).hasContent("goodbye");
    assertThat(directory.resolve("said.stopping")).hasContent("true");
    assertThat(directory.resolve("said.done")).doesNotExist();
    try (Stream<Path> left = Files.list(temporary)) {
      assertThat(left).isEmpty();
    }
  }
}
