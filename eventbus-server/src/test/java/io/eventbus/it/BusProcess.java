package io.eventbus.it;

import io.eventbus.server.BusServer;
import io.eventbus.server.samples.TestKey;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Bus in a process of its own, so that it can be killed as by SIGKILL. */
final class BusProcess {
  private final Process process;
  private final URI uri;
  private final int adminPort;

  private BusProcess(Process process, URI uri, int adminPort) {
    this.process = process;
    this.uri = uri;
    this.adminPort = adminPort;
  }

  /** Runs in the child: starts a bus, says where it is, and ends when its input ends. */
  public static void main(String[] args) throws Exception {
    try (BusServer bus = TestBus.start(args)) {
      System.out.println("bus at " + bus.uri() + " " + bus.adminPort());
      while (System.in.read() >= 0) {
        // The parent lives.
      }
    }
  }

  static BusProcess start(int port) throws IOException {
    return start("listen.port", Integer.toString(port));
  }

  static BusProcess start(String... settings) throws IOException {
    List<String> all = new ArrayList<>(List.of("auth.resume-key-file", TestKey.FILE.toString()));
    all.addAll(Arrays.asList(settings));
    return start(command(List.of(), all));
  }

  /** Starts one that was told nothing of a key, for a user with this home. */
  static BusProcess startAtHome(Path home, String... settings) throws IOException {
    List<String> all = new ArrayList<>(List.of("auth.resume-key-file", ""));
    all.addAll(Arrays.asList(settings));
    return start(command(List.of("-Duser.home=" + home), all));
  }

  /** Starts one that may have so many files open. */
  static BusProcess limited(int descriptors, String... settings) throws IOException {
    List<String> all = new ArrayList<>(List.of("auth.resume-key-file", TestKey.FILE.toString()));
    all.addAll(Arrays.asList(settings));
    List<String> command =
        new ArrayList<>(List.of("bash", "-c", "ulimit -n " + descriptors + "; exec \"$@\"", "bus"));
    command.addAll(command(List.of(), all));
    return start(command);
  }

  private static List<String> command(List<String> options, List<String> settings) {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                // The process lives for seconds: the second compiler would cost more than it
                // gains.
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classPath));
    command.addAll(options);
    command.add(BusProcess.class.getName());
    command.addAll(settings);
    return command;
  }

  private static BusProcess start(List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    StringBuilder said = new StringBuilder();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith("bus at ")) {
        String[] where = line.substring("bus at ".length()).split(" ", -1);
        return new BusProcess(process, URI.create(where[0]), Integer.parseInt(where[1]));
      }
      said.append(line).append('\n');
    }
    throw new IOException("the bus did not start:\n" + said);
  }

  URI uri() {
    return uri;
  }

  /** Sends a request to the administration port, with a deadline. */
  String admin(String path) throws IOException {
    URLConnection connection =
        URI.create("http://127.0.0.1:" + adminPort + path).toURL().openConnection();
    connection.setConnectTimeout(RawClient.DEADLINE_MILLIS);
    connection.setReadTimeout(RawClient.DEADLINE_MILLIS);
    try (var in = connection.getInputStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  int adminPort() {
    return adminPort;
  }

  void kill() throws InterruptedException {
    process.destroyForcibly();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new AssertionError("the process does not die");
    }
  }
}
