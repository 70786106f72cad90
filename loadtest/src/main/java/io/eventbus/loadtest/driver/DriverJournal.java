package io.eventbus.loadtest.driver;

import org.jspecify.annotations.Nullable;

/**
 * Topic that a system stores from its beginning, with one publisher and any number of readers, each
 * with a connection of its own. One thread uses it.
 */
public interface DriverJournal extends AutoCloseable {
  /**
   * Publishes an event without waiting for its confirmation; may block when the client's buffer is
   * full.
   *
   * @param payload becomes the driver's own: the caller does not touch it again
   * @param outcome called once, by any thread
   * @throws DriverException if the client does not take the event
   */
  void publish(byte[] payload, Outcome outcome);

  /**
   * Reads what is stored, and what is stored later.
   *
   * @param from position of the first event, from 1
   * @return the reader, which goes on until it is closed
   * @throws DriverException if the system refuses it
   */
  Driver.Subscriber read(long from, Driver.Receiver receiver);

  /**
   * Takes events that are stored as one of several workers, each event by one of them, and settles
   * each by itself when the receiver has returned.
   *
   * @param number of the worker, from 0; each has a connection of its own
   * @return the worker, which goes on until it is closed
   * @throws DriverException if the system refuses it
   */
  default Driver.Subscriber work(int number, Driver.Receiver receiver) {
    throw new DriverException("workers: none (expected: a system that has work queues)");
  }

  /** Closes the connections. */
  @Override
  void close();

  /** Takes what has become of an event. */
  @FunctionalInterface
  interface Outcome {
    /**
     * Ends a publication.
     *
     * @param position position of the event among all that are stored, from 1; 0 if unknown
     * @param failure null if the system has confirmed the event
     */
    void ended(long position, @Nullable Throwable failure);
  }
}
