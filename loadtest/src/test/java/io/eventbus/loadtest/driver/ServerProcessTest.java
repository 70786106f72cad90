package io.eventbus.loadtest.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ServerProcessTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  /** Says that it is ready and then waits for ever. */
  static final class Waiting {
    private Waiting() {}

    public static void main(String[] args) throws InterruptedException {
      System.out.println("ready at port " + args[0]);
      new java.util.concurrent.CountDownLatch(1).await();
    }
  }

  @Test
  void waitsForTheOutputAndEndsTheProcess() {
    ProcessHandle handle;
    try (ServerProcess process =
        ServerProcess.startJava(
            "waiting", List.of("-Xmx32m"), Waiting.class.getName(), List.of("77"))) {
      assertThat(process.awaitOutput(Pattern.compile("port ([0-9]+)"), DEADLINE).group(1))
          .isEqualTo("77");
      handle = ProcessHandle.of(process.pid()).orElseThrow();
    }
    assertThat(handle.isAlive()).isFalse();
  }

  @Test
  void tellsTheLastWordsOfAProcessThatEnds() {
    try (ServerProcess process =
        ServerProcess.start("sh", List.of("sh", "-c", "echo no licence; exit 3"), Map.of())) {
      assertThatThrownBy(() -> process.awaitOutput(Pattern.compile("ready"), DEADLINE))
          .isInstanceOf(DriverException.class)
          .hasMessageContaining("ended with 3")
          .hasMessageContaining("no licence");
    }
  }

  @Test
  void givesUpAtTheDeadline() {
    try (ServerProcess process =
        ServerProcess.start("cat", List.of("tail", "-f", "/dev/null"), Map.of())) {
      assertThatThrownBy(() -> process.awaitOutput(Pattern.compile("ready"), Duration.ofMillis(50)))
          .isInstanceOf(DriverException.class)
          .hasMessageContaining("not ready within 50 ms");
    }
  }

  @Test
  void aProgramThatIsNotThereIsAnError() {
    assertThatThrownBy(() -> ServerProcess.start("none", List.of("/no/such/program"), Map.of()))
        .isInstanceOf(DriverException.class)
        .hasMessageContaining("/no/such/program");
  }
}
