package io.eventbus.conformance.testee;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A testee that is a child process. */
public final class TesteeProcess implements Testee {
  // Writer of ASCII only: lone surrogates, which some requests contain, are no UTF-8.
  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();
  private static final int MAX_LINE = 16 * 1024 * 1024;
  private static final int LAST_LINES = 40;
  private static final int LAST_LINE_LENGTH = 500;

  private final Process process;
  private final OutputStream in;
  private final Deque<String> lastWords = new ArrayDeque<>();
  private volatile boolean closed;

  private TesteeProcess(Process process) {
    this.process = process;
    this.in = process.getOutputStream();
  }

  /**
   * Returns a factory that starts a command with the system's shell.
   *
   * @return starting throws {@link UncheckedIOException} without a shell
   */
  public static Factory of(String command) {
    return onLine -> start(command, onLine);
  }

  private static TesteeProcess start(String command, Consumer<ObjectNode> onLine) {
    try {
      // exec: a signal then reaches the program and not a shell in front of it.
      Process process = new ProcessBuilder("sh", "-c", "exec " + command).start();
      TesteeProcess testee = new TesteeProcess(process);
      daemon("testee-out", () -> testee.readLines(process.getInputStream(), onLine));
      daemon("testee-err", () -> testee.readWords(process.getErrorStream()));
      return testee;
    } catch (IOException e) {
      throw new UncheckedIOException("the testee cannot be started: " + command, e);
    }
  }

  private static void daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void readLines(InputStream from, Consumer<ObjectNode> onLine) {
    try (BufferedReader lines = reader(from)) {
      for (String line = next(lines); line != null; line = next(lines)) {
        onLine.accept(parse(line));
      }
    } catch (IOException e) {
      onLine.accept(broken("its output cannot be read: " + e.getMessage()));
    }
    if (!closed) {
      onLine.accept(broken("it has ended" + exit()));
    }
  }

  private String exit() {
    try {
      return process.waitFor(1, TimeUnit.SECONDS) ? ", exit code " + process.exitValue() : "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }

  private static BufferedReader reader(InputStream from) {
    return new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8));
  }

  /** Reads a line of at most {@link #MAX_LINE} characters. */
  private static @Nullable String next(BufferedReader lines) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = lines.read(); c >= 0; c = lines.read()) {
      if (c == '\n') {
        return line.toString();
      }
      if (line.length() == MAX_LINE) {
        throw new IOException("a line of more than " + MAX_LINE + " characters");
      }
      line.append((char) c);
    }
    return line.isEmpty() ? null : line.toString();
  }

  private static ObjectNode parse(String line) {
    try {
      JsonNode parsed = JSON.readTree(line);
      if (parsed instanceof ObjectNode object) {
        return object;
      }
    } catch (JsonProcessingException e) {
      // Reported below, like JSON other than an object.
    }
    String start = line.length() > LAST_LINE_LENGTH ? line.substring(0, LAST_LINE_LENGTH) : line;
    return broken("a line that is no JSON object: " + start);
  }

  private static ObjectNode broken(String what) {
    return JsonNodeFactory.instance.objectNode().put("broken", what);
  }

  private void readWords(InputStream from) {
    try (BufferedReader lines = reader(from)) {
      for (String line = next(lines); line != null; line = next(lines)) {
        synchronized (lastWords) {
          lastWords.add(
              line.length() > LAST_LINE_LENGTH ? line.substring(0, LAST_LINE_LENGTH) : line);
          if (lastWords.size() > LAST_LINES) {
            lastWords.remove();
          }
        }
      }
    } catch (IOException e) {
      // The process has ended: its earlier output counts.
    }
  }

  @Override
  public void ask(ObjectNode request) {
    byte[] line;
    try {
      line = (JSON.writeValueAsString(request) + "\n").getBytes(StandardCharsets.US_ASCII);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("a request that cannot be written", e);
    }
    synchronized (in) {
      try {
        in.write(line);
        in.flush();
      } catch (IOException e) {
        // The process has ended, which is reported at the end of its output.
      }
    }
  }

  @Override
  public String lastWords() {
    synchronized (lastWords) {
      return String.join("\n", lastWords);
    }
  }

  @Override
  public void close() {
    closed = true;
    try {
      // Without the lock: a testee that reads nothing blocks the writer, and is ended below.
      daemon("testee-end", this::closeInput);
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        process.destroy();
        if (!process.waitFor(2, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  private void closeInput() {
    try {
      in.close();
    } catch (IOException e) {
      // Already ended.
    }
  }
}
