package io.eventbus.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.samples.TestKey;
import io.eventbus.testing.TestPorts;
import java.io.File;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Shell for the commands of one page, in an empty directory with {@code ./eventbus}, with a bus of
 * its own. Commands run as printed, but for three things:
 *
 * <ul>
 *   <li>other ports: those of the bus in place of 8080 and 8081, free ones in place of others
 *   <li>a directory of the test in place of {@code /tmp/eventbus}
 *   <li>a second in place of any {@code --duration}
 * </ul>
 */
final class Shell implements AutoCloseable {
  /** Programs that a machine may lack; a block that calls one is left out there. */
  private static final List<String> TOOLS = List.of("curl", "jq", "openssl", "python3", "timeout");

  private static final String COMMAND = "eventbus";

  private static final String[] OTHER_PORTS = {"8090", "8443", "8444"};

  /** First digits of the ports of a cluster, before two more digits or before a variable. */
  private static final String CLUSTER = "\\b91(?=[0-9]{2}\\b|\\$\\{)";

  private static final int SECONDS = 180;

  /** Characters of the output of a failed block that are shown. */
  private static final int SHOWN = 4_000;

  /** Ends what a failed block has left; waits for what a block has told to end. */
  private static final String RUN =
      "trap 'code=$?; [ $code = 0 ] || kill $(jobs -p) 2>/dev/null || true; wait; exit $code' EXIT;"
          + " . \"$1\"";

  private final Path directory;
  private final Path temporary;
  private final BusServer bus;
  private final Map<String, String> replaced = new HashMap<>();

  /** Starts a bus with other settings, and makes the directory ready. */
  Shell(Path directory, Map<String, String> settings) throws IOException {
    this.directory = directory;
    temporary = Files.createDirectory(directory.resolve("tmp"));
    Map<String, String> all = new HashMap<>(settings);
    all.put("listen.host", "127.0.0.1");
    all.put("listen.port", "0");
    all.put("admin.port", "0");
    all.put("auth.resume-key-file", TestKey.FILE.toString());
    bus = BusServer.start(ServerConfig.of(all));
    Files.createSymbolicLink(directory.resolve(COMMAND), Page.ROOT.resolve(COMMAND));
    replace("\\b8080\\b", String.valueOf(bus.port()));
    replace("\\b8081\\b", String.valueOf(bus.adminPort()));
    for (String port : OTHER_PORTS) {
      replace("\\b" + port + "\\b", String.valueOf(TestPorts.find()));
    }
    replace(CLUSTER, String.valueOf(freeHundred()));
    replace("/tmp/eventbus\\b", temporary.resolve("eventbus").toString());
    replace("--duration \\d+s\\b", "--duration 1s");
  }

  /** Runs a block; fails if a command of it does. */
  void run(Block block) throws IOException, InterruptedException {
    for (String tool : TOOLS) {
      boolean called = Pattern.compile("\\b" + tool + "\\b").matcher(block.text()).find();
      assumeTrue(!called || isOnPath(tool), () -> block.name() + " needs " + tool);
    }
    String text = block.text();
    for (Map.Entry<String, String> entry : replaced.entrySet()) {
      text = text.replaceAll(entry.getKey(), entry.getValue());
    }
    Path script = Files.writeString(Files.createTempFile(temporary, "block", ".sh"), text);
    Path log = Files.createTempFile(temporary, "log", ".txt");
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-euo", "pipefail", "-c", RUN, "bash", script.toString())
            .directory(directory.toFile())
            .redirectInput(new File("/dev/null"))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    setUp(builder.environment());
    Process process = builder.start();
    boolean ended = process.waitFor(SECONDS, TimeUnit.SECONDS);
    if (!ended) {
      Stream.concat(process.descendants(), Stream.of(process.toHandle()))
          .toList()
          .forEach(ProcessHandle::destroyForcibly);
    }
    assertThat(ended).as("%s ends; its output: %s", block.name(), end(log)).isTrue();
    assertThat(process.exitValue())
        .as("exit code of %s; its output: %s", block.name(), end(log))
        .isZero();
  }

  /** Ends all processes that the page has left, too, in case that one of its blocks has failed. */
  @Override
  public void close() throws IOException {
    bus.close();
    Files.delete(directory.resolve(COMMAND));
    ProcessHandle.allProcesses()
        .filter(process -> process.info().commandLine().orElse("").contains(temporary.toString()))
        .forEach(ProcessHandle::destroyForcibly);
  }

  private void setUp(Map<String, String> variables) {
    Path java = Path.of(System.getProperty("java.home"));
    variables.keySet().removeIf(name -> name.startsWith("EVENTBUS_"));
    variables.put("JAVA_HOME", java.toString());
    variables.merge("PATH", "", (path, none) -> java.resolve("bin") + File.pathSeparator + path);
    variables.put("TMPDIR", temporary.toString());
    variables.put("EVENTBUS_URL", bus.uri().toString());
    variables.put("EVENTBUS_ADMIN_URL", "http://127.0.0.1:" + bus.adminPort());
    variables.put(
        "EVENTBUS_JAVA_OPTS",
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Duser.home="
            + temporary
            + " -Djava.io.tmpdir="
            + temporary);
  }

  private void replace(String pattern, String replacement) {
    replaced.put(pattern, Matcher.quoteReplacement(replacement));
  }

  private static String end(Path log) throws IOException {
    String text = Files.readString(log);
    return text.substring(Math.max(0, text.length() - SHOWN));
  }

  private static boolean isOnPath(String tool) {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, tool)));
  }

  /** Returns a number, such that the ports with two more digits were free a moment ago. */
  private static int freeHundred() throws IOException {
    while (true) {
      int hundred = ThreadLocalRandom.current().nextInt(110, 320);
      List<ServerSocket> sockets = new ArrayList<>();
      try {
        for (int i = 10; i < 50; i++) {
          sockets.add(new ServerSocket(100 * hundred + i, 1, InetAddress.getLoopbackAddress()));
        }
        return hundred;
      } catch (BindException e) {
        // Another program has one of them: try others.
      } finally {
        for (ServerSocket socket : sockets) {
          socket.close();
        }
      }
    }
  }
}
