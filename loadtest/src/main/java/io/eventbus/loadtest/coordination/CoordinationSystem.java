package io.eventbus.loadtest.coordination;

import io.eventbus.loadtest.driver.Availability;
import java.nio.file.Path;

/** A system under test. An implementer must start every server as a process of its own. */
public interface CoordinationSystem {
  /** Returns its name. */
  String name();

  /** Returns whether it can be measured here. */
  Availability availability();

  /**
   * Starts servers on free ports of the loopback interface, with every write on the disk before it
   * counts, and waits until all of them take part.
   *
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  CoordinationCluster start(int servers, Path directory) throws InterruptedException;
}
