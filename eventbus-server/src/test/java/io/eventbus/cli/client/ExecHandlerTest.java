package io.eventbus.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.Event;
import io.eventbus.client.Invocation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class ExecHandlerTest {
  /** Request to a service. */
  private record Asked(String text) implements Invocation {
    @Override
    public Event event() {
      return Event.of(text);
    }

    @Override
    public String service() {
      return "s";
    }

    @Override
    public String method() {
      return "m";
    }

    @Override
    public long caller() {
      return 7;
    }

    @Override
    public long request() {
      return 1;
    }

    @Override
    public String identity() {
      return "";
    }

    @Override
    public int attempt() {
      return 0;
    }

    @Override
    public Duration remaining() {
      return Duration.ofSeconds(30);
    }

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public void onCancel(Runnable task) {}
  }

  private static String answer(String command, String text) throws Exception {
    Event event = new ExecHandler(command).onRequest(new Asked(text)).toCompletableFuture().join();
    return new String(event.payload(), StandardCharsets.UTF_8);
  }

  /** The content of a pipe is there for its reader after the command has ended, too. */
  @Test
  void theOutputOfACommandThatHasEndedIsReadToItsEnd() throws Exception {
    for (int i = 0; i < 200; i++) {
      assertThat(answer("printf %065000d 0", "")).hasSize(65_000);
    }
  }

  @Test
  void theCommandGetsTheBodyAndItsEnvironment() throws Exception {
    assertThat(answer("cat; echo $EVENTBUS_SERVICE $EVENTBUS_CALLER", "body "))
        .isEqualTo("body s 7\n");
  }
}
