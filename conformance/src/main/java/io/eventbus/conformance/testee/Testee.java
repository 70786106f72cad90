package io.eventbus.conformance.testee;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.function.Consumer;

/**
 * A client library under test. Its lines are received on a thread of its own, one at a time; the
 * receiver must not block.
 */
public interface Testee extends AutoCloseable {
  /** Factory of testees, each for one scenario at a time. */
  interface Factory {
    /** Starts a testee. */
    Testee start(Consumer<ObjectNode> onLine);
  }

  /** Sends a line; any thread. */
  void ask(ObjectNode request);

  /** Returns its error output. */
  String lastWords();

  /** Ends the testee, at the latest after some seconds. */
  @Override
  void close();
}
