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
    /** Starts one. */
    Testee start(Consumer<ObjectNode> heard);
  }

  /** Sends a line; any thread. */
  void ask(ObjectNode request);

  /** Returns what it wrote for people. */
  String lastWords();

  /** Ends it, at the latest after some seconds. */
  @Override
  void close();
}
