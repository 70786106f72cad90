package io.eventbus.cli.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.client.WorkDelivery;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class ExecWorkerTest {
  private static final Duration LONG = Duration.ofHours(1);

  @TempDir Path directory = Path.of("");

  private final StringWriter err = new StringWriter();
  private final BlockingQueue<String> settled = new LinkedBlockingQueue<>();
  private Runnable onExtend = () -> {};
  private ExecWorker worker = worker("", LONG);

  private ExecWorker worker(String command, Duration ackTimeout) {
    return new ExecWorker(command, ackTimeout, new PrintWriter(err));
  }

  @AfterEach
  void stop() {
    worker.stop();
  }

  private void run(String command) throws Exception {
    run(command, LONG);
  }

  private void run(String command, Duration ackTimeout) throws Exception {
    worker.stop();
    worker = worker(command, ackTimeout);
    worker.onEvent(FakeEvent.of("orders.7", null, Map.of(), "payload").at(42), new Delivery());
  }

  /** Delivery that notes how it is settled. */
  private final class Delivery implements WorkDelivery {
    @Override
    public int attempt() {
      return 3;
    }

    @Override
    public void defer() {
      settled.add("defer");
    }

    @Override
    public void done() {
      settled.add("done");
    }

    @Override
    public CompletionStage<Void> doneConfirmed() {
      settled.add("doneConfirmed");
      return new CompletableFuture<>();
    }

    @Override
    public void retry() {
      settled.add("retry");
    }

    @Override
    public void retry(Duration delay) {
      settled.add("retry " + delay);
    }

    @Override
    public void reject(String reason) {
      settled.add("reject " + reason);
    }

    @Override
    public void release() {
      settled.add("release");
    }

    @Override
    public void extend() {
      onExtend.run();
    }
  }

  @Test
  void theCommandGetsTheEvent() throws Exception {
    Path file = directory.resolve("got");
    run("{ cat; echo; echo $EVENTBUS_TOPIC $EVENTBUS_POSITION $EVENTBUS_ATTEMPT; } > " + file);
    assertThat(file).hasContent("payload\norders.7 42 3");
    assertThat(settled).as("returning settles it").isEmpty();
  }

  @Test
  void anExitCodeRejectsItWithTheLastLine() throws Exception {
    run("echo first >&2; echo '  no such order ' >&2; echo >&2; exit 65");
    assertThat(settled).containsExactly("reject no such order");
    assertThat(err.toString()).startsWith("first\n  no such order");
    settled.clear();
    run("head -c 100000 /dev/zero | tr '\\0' x >&2; echo ' end' >&2; exit 65");
    assertThat(settled).hasSize(1).allSatisfy(each -> assertThat(each).endsWith("xxx end"));
    assertThat(settled).allSatisfy(each -> assertThat(each).hasSizeLessThan(1100));
    settled.clear();
    run("exit 65");
    assertThat(settled).containsExactly("reject the command ended with exit code 65");
  }

  @Test
  void otherExitCodesHaveItComeAgain() {
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> run("exit 3"))
        .withMessage("the command ended with exit code 3");
    assertThat(settled).isEmpty();
  }

  @Test
  void theAckTimeoutBeginsAgainWhileTheCommandRuns() throws Exception {
    Path file = directory.resolve("extended");
    onExtend =
        () -> {
          try {
            Files.writeString(file, "x");
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        };
    run("while [ ! -e " + file + " ]; do sleep 0.01; done", Duration.ofMillis(300));
    assertThat(settled).isEmpty();
  }

  @Test
  void theEndKillsWhatRuns() throws Exception {
    Path file = directory.resolve("begun");
    CompletableFuture<Void> end = new CompletableFuture<>();
    ExecWorker ended = worker("echo > " + file + "; sleep 600; true", LONG);
    Thread thread =
        new Thread(
            () -> {
              try {
                ended.onEvent(FakeEvent.of("a", null, Map.of(), "").at(1), new Delivery());
                end.complete(null);
              } catch (IOException | InterruptedException e) {
                end.completeExceptionally(e);
              }
            });
    thread.start();
    while (!Files.exists(file)) {
      Thread.onSpinWait();
    }
    ended.stop();
    assertThat(end.handle((none, failure) -> String.valueOf(failure)).get(60, TimeUnit.SECONDS))
        .contains("the command ended with exit code 137");
    assertThat(settled).isEmpty();
  }
}
