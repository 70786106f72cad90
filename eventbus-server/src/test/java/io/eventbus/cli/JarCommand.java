package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Runnable jar as a process. Its standard error goes to a file, so that it never waits for a
 * reader; its standard output to a pipe or to a file.
 */
final class JarCommand {
  private static final Duration DEADLINE = Duration.ofMinutes(8);
  private static final Path JAR = Path.of("target", "eventbus.jar");

  private final Process process;
  private final Path err;
  private final @Nullable Path out;

  private JarCommand(Path directory, String input, boolean pipe, String... arguments)
      throws IOException {
    err = Files.createTempFile(directory, "err", ".txt");
    out = pipe ? null : Files.createTempFile(directory, "out", ".txt");
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    line.add("-Djava.io.tmpdir=" + Files.createDirectories(directory.resolve("tmp")));
    // A bus keeps a key there.
    line.add("-Duser.home=" + directory);
    line.addAll(List.of("-jar", JAR.toString()));
    line.addAll(List.of(arguments));
    Path in = Files.writeString(Files.createTempFile(directory, "in", ".txt"), input);
    ProcessBuilder builder =
        new ProcessBuilder(line).redirectError(err.toFile()).redirectInput(in.toFile());
    if (out != null) {
      builder.redirectOutput(out.toFile());
    }
    builder.environment().keySet().removeIf(name -> name.startsWith("EVENTBUS_"));
    process = builder.start();
  }

  /** Starts a command whose output is read when it has ended. */
  static JarCommand piped(Path directory, String input, String... arguments) throws IOException {
    return new JarCommand(directory, input, true, arguments);
  }

  /** Starts a command whose output is looked at while it runs. */
  static JarCommand watched(Path directory, String... arguments) throws IOException {
    return new JarCommand(directory, "", false, arguments);
  }

  /** Returns the directory of its temporary files. */
  static Path temporary(Path directory) {
    return directory.resolve("tmp");
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Waits until it has started so many processes. */
  List<ProcessHandle> awaitChildren(int count) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + DEADLINE.toNanos();
    while (true) {
      List<ProcessHandle> children = process.children().toList();
      if (children.size() == count) {
        return children;
      }
      assertThat(System.nanoTime() < deadline).as(children + err()).isTrue();
      assertThat(process.waitFor(20, TimeUnit.MILLISECONDS)).as(err()).isFalse();
    }
  }

  int exitCode() throws InterruptedException, IOException {
    assertThat(process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS)).as(err()).isTrue();
    return process.exitValue();
  }

  /** Sends a signal; unlike {@link Process#destroy}, leaves the streams open. */
  void signal(String name) throws IOException, InterruptedException {
    assertThat(
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor())
        .isZero();
  }

  String out() throws IOException {
    return out == null
        ? new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
        : Files.readString(out);
  }

  void closeOut() throws IOException {
    process.getInputStream().close();
  }

  String err() throws IOException {
    return Files.readString(err);
  }

  Matcher awaitErr(Pattern pattern) throws IOException, InterruptedException {
    return await(this::err, pattern);
  }

  /** Waits for a pattern in the output of a watched process. */
  Matcher awaitOut(Pattern pattern) throws IOException, InterruptedException {
    return await(this::out, pattern);
  }

  private Matcher await(Text text, Pattern pattern) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + DEADLINE.toNanos();
    while (true) {
      Matcher matcher = pattern.matcher(text.read());
      if (matcher.find()) {
        return matcher;
      }
      assertThat(System.nanoTime() < deadline && process.isAlive()).as(err()).isTrue();
      // Also ends at once when the process does.
      boolean ended = process.waitFor(20, TimeUnit.MILLISECONDS);
      assertThat(ended && !pattern.matcher(text.read()).find()).as(err()).isFalse();
    }
  }

  /** Ends it by force, if it has not ended. */
  void end() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Output of a stream so far. */
  @FunctionalInterface
  private interface Text {
    String read() throws IOException;
  }
}
