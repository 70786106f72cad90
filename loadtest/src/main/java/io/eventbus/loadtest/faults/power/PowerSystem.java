package io.eventbus.loadtest.faults.power;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.DriverJournal;
import java.nio.file.Path;

/** System that confirms events which it stores in files. */
public interface PowerSystem {
  /** Returns its name. */
  String name();

  /** Returns whether it is there. */
  Availability availability();

  /**
   * Starts a server, and waits until it takes events.
   *
   * @param data the directory of its files, empty at the first time
   * @throws io.eventbus.loadtest.driver.DriverException if it does not start
   */
  Server start(Path data);

  /** Server that runs. */
  interface Server extends AutoCloseable {
    /**
     * Returns a topic whose events are stored.
     *
     * @throws io.eventbus.loadtest.driver.DriverException if the server takes no client
     */
    DriverJournal journal();

    /** Stops all threads of the process, and waits until they stand still. */
    void pause();

    /** Kills the process, and waits until it has ended. */
    void kill();

    /** Closes the clients, and kills the process. */
    @Override
    void close();
  }
}
