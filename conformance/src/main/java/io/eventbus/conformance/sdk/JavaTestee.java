package io.eventbus.conformance.sdk;

import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.conformance.testee.Testee;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/** The Java SDK as a testee: {@link #main} as a process, {@link #start} in this one. */
public final class JavaTestee implements Testee {
  private final JavaSdk sdk;
  private final ExecutorService requests =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "java-testee-requests");
            thread.setDaemon(true);
            return thread;
          });

  private JavaTestee(Consumer<ObjectNode> onLine) {
    this.sdk = new JavaSdk(onLine);
  }

  /** Starts a testee in this process. */
  public static Testee start(Consumer<ObjectNode> onLine) {
    return new JavaTestee(onLine);
  }

  /**
   * Reads requests from standard input, writes answers to standard output, until the input ends.
   *
   * @throws IOException if the input is no JSON
   */
  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    try (JavaSdk sdk = new JavaSdk(line -> out.println(line));
        MappingIterator<ObjectNode> requests =
            new ObjectMapper().readerFor(ObjectNode.class).readValues(System.in)) {
      while (requests.hasNext()) {
        sdk.take(requests.next());
      }
    }
  }

  @Override
  public void ask(ObjectNode request) {
    // A single thread, so that requests begin in their order.
    requests.execute(() -> sdk.take(request));
  }

  @Override
  public String lastWords() {
    return "";
  }

  @Override
  public void close() {
    requests.shutdown();
    sdk.close();
  }
}
