package io.eventbus.registry.faults;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runner of short commands of the system. */
final class Shell {
  private Shell() {}

  static void run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IOException(command + ": not done within 60 s");
    }
    if (process.exitValue() != 0) {
      throw new IOException(command + ": " + output);
    }
  }

  /** Sends a signal, such as STOP, to a process that this test started. */
  static void signal(String signal, long pid) throws IOException, InterruptedException {
    run(List.of("sh", "-c", "kill -" + signal + " " + pid));
  }
}
