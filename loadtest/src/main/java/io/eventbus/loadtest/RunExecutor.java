package io.eventbus.loadtest;

import io.eventbus.loadtest.run.RunResult;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Creates one run, here or in another JVM. */
interface RunExecutor extends AutoCloseable {
  /**
   * Creates one run.
   *
   * @return its result; a failure of the system under test is a result with a problem. Null if the
   *     load test is being stopped: what was found while everything ends says nothing
   * @throws IOException if another JVM cannot be started or gives no result
   * @throws InterruptedException if the thread is interrupted
   */
  @Nullable RunResult execute(PlannedRun planned) throws IOException, InterruptedException;

  /** Ends what was kept for further runs. */
  @Override
  default void close() throws IOException {}
}
