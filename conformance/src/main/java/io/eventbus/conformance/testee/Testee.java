package io.eventbus.conformance.testee;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.function.Consumer;

/**
 * A client library under test. What it says comes on a thread of its own, one line at a time; the
 * receiver must not block.
 */
public interface Testee extends AutoCloseable {
  /** Makes testees: each serves one scenario at a time. */
  interface Factory {
    /**
     * Starts one.
     *
     * @param heard is given each line that it writes; what is no JSON object comes as {@code
     *     {"broken": …}} without an id
     * @return a testee that takes requests
     */
    Testee start(Consumer<ObjectNode> heard);
  }

  /**
   * Sends a line; any thread.
   *
   * @param request with its id
   */
  void ask(ObjectNode request);

  /**
   * Returns what it wrote for people.
   *
   * @return the last lines, perhaps none
   */
  String lastWords();

  /** Ends it, at the latest after some seconds. */
  @Override
  void close();
}
