package io.eventbus.cli.client;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusException.CallFailed.Rejected;
import io.eventbus.client.Invocation;
import io.eventbus.client.RequestHandler;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers each request with what a command writes that gets it. Any thread. */
final class ExecHandler implements RequestHandler {
  /**
   * Maximum of output, more than any bus accepts by default: longer output is cut, and the client
   * refuses it.
   */
  private static final int MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

  private static final Logger LOG = LoggerFactory.getLogger(ExecHandler.class);

  private final String command;

  ExecHandler(String command) {
    this.command = command;
  }

  @Override
  public CompletionStage<Event> onRequest(Invocation invocation)
      throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder("sh", "-c", command).redirectError(ProcessBuilder.Redirect.INHERIT);
    Map<String, String> environment = builder.environment();
    environment.put("EVENTBUS_SERVICE", invocation.service());
    environment.put("EVENTBUS_METHOD", invocation.method());
    environment.put("EVENTBUS_CALLER", Long.toString(invocation.caller()));
    environment.put("EVENTBUS_IDENTITY", invocation.identity());
    environment.put("EVENTBUS_ATTEMPT", Integer.toString(invocation.attempt()));
    Process process = builder.start();
    invocation.onCancel(process::destroyForcibly);
    CompletableFuture<Process> end =
        process
            .onExit()
            .orTimeout(Math.max(1, invocation.remaining().toMillis()), TimeUnit.MILLISECONDS)
            .whenComplete(
                (exited, late) -> {
                  // Unless it has exited: that would close output that is still being read.
                  if (late != null) {
                    process.destroyForcibly();
                  }
                });
    try {
      CompletableFuture<Void> input =
          CompletableFuture.runAsync(() -> write(process, invocation.event().payload()));
      byte[] output = process.getInputStream().readNBytes(MAX_OUTPUT_BYTES);
      int code = process.waitFor();
      if (code != 0) {
        throw Rejected.failed(
            "exit-" + code, "the command ended with exit code " + code, new byte[0]);
      }
      input.join();
      return CompletableFuture.completedFuture(Event.of(output));
    } finally {
      process.destroyForcibly();
      end.cancel(false);
    }
  }

  private static void write(Process process, byte[] body) {
    try (OutputStream in = process.getOutputStream()) {
      in.write(body);
    } catch (IOException e) {
      // The command does not read it, or not all of it, which it may do.
      LOG.debug("the command did not read its input", e);
    }
  }
}
