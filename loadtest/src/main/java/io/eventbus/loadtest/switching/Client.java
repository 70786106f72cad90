package io.eventbus.loadtest.switching;

import io.eventbus.loadtest.driver.Driver;
import java.util.List;

/** Client that may be moved from bus to bus. Any thread. */
public interface Client extends AutoCloseable {
  /** Returns its name. */
  String name();

  /**
   * Returns where it is.
   *
   * @return the number of the bus, -1 while it has no connection
   */
  int bus();

  /**
   * Counts its arrivals at a bus after the first: because a bus asked it to change, or because its
   * connection was lost.
   *
   * @return 0 or more
   */
  long arrivals();

  /**
   * Says when it last arrived.
   *
   * @return as {@link System#nanoTime}
   */
  long arrivedAt();

  /** Returns how often it was asked to change and stayed, and why. */
  List<String> stayed();

  /**
   * Returns how often it lost its connection.
   *
   * @return 0 or more
   */
  long disconnects();

  /** Subscribes; returns when what any bus is given from then on will come. */
  void subscribe(String filter, Driver.Receiver receiver);

  /** Publishes without waiting for an answer; may block when the client's buffer is full. */
  void publish(String topic, byte[] payload);

  /** Waits until all that was published is in the queues of its subscribers, at most 10 seconds. */
  void flush();

  @Override
  void close();
}
