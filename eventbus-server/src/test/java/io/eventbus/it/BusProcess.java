package io.eventbus.it;

import io.eventbus.server.BusServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A bus in a process of its own, so that it can be killed as by SIGKILL. */
final class BusProcess {
  private final Process process;
  private final URI uri;

  private BusProcess(Process process, URI uri) {
    this.process = process;
    this.uri = uri;
  }

  /** Runs in the child: starts a bus, says where it is, and ends when its input ends. */
  public static void main(String[] args) throws Exception {
    try (BusServer bus = TestBus.start(args)) {
      System.out.println("bus at " + bus.uri());
      while (System.in.read() >= 0) {
        // The parent lives.
      }
    }
  }

  static BusProcess start(int port) throws IOException {
    return start("listen.port", Integer.toString(port));
  }

  static BusProcess start(String... settings) throws IOException {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-cp",
                classPath,
                BusProcess.class.getName()));
    command.addAll(Arrays.asList(settings));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    StringBuilder said = new StringBuilder();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith("bus at ")) {
        return new BusProcess(process, URI.create(line.substring("bus at ".length())));
      }
      said.append(line).append('\n');
    }
    throw new IOException("the bus did not start:\n" + said);
  }

  URI uri() {
    return uri;
  }

  void kill() throws InterruptedException {
    process.destroyForcibly();
    if (!process.waitFor(30, TimeUnit.SECONDS)) {
      throw new AssertionError("the process does not die");
    }
  }
}
