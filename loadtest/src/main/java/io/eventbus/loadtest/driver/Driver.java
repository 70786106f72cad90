package io.eventbus.loadtest.driver;

import io.eventbus.loadtest.workload.Login;
import io.eventbus.loadtest.workload.Workload;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A system under test: its server, started out of process, and its ordinary client.
 *
 * <p>An implementer must use the client as its users would, with the settings that its own
 * documentation recommends for speed, must not batch, drop or retry on its own account, and must
 * not let one driver's process outlive {@link Session#close}.
 */
public interface Driver {
  /** Returns the name that the command line uses. */
  String name();

  /**
   * Returns whether the system can be started on this machine. Called before anything else, may
   * look at files and run {@code --version}, starts nothing that stays.
   */
  Availability availability();

  /**
   * Returns whether several servers of this system can act as one.
   *
   * @return false if workloads with a cluster are not for it
   */
  default boolean hasClusters() {
    return false;
  }

  /**
   * Returns whether clients of this system can prove who they are as workloads ask for.
   *
   * @return false if workloads with a login are not for it
   */
  default boolean hasLogins() {
    return false;
  }

  /**
   * Returns whether this system has calls of services.
   *
   * @return false if workloads with calls are not for it
   */
  default boolean hasCalls() {
    return false;
  }

  /**
   * Returns whether this driver stores the events of a topic.
   *
   * @return false if workloads with a durable topic are not for it
   */
  default boolean hasDurableTopics() {
    return false;
  }

  /**
   * Returns whether this driver publishes and subscribes to topics that are not durable.
   *
   * @return false if only workloads with calls, or with a durable topic, are for it
   */
  default boolean hasEvents() {
    return true;
  }

  /**
   * Returns what a workload needs that is not there.
   *
   * @return in a word, empty for nothing
   */
  default String lacks(Workload workload) {
    if (workload.login() != Login.NONE && !hasLogins()) {
      return "logins";
    }
    if (workload.registers() != null) {
      return "registers";
    }
    if (workload.calls() > 0 && !hasCalls()) {
      return "calls";
    }
    if (workload.durable() != null) {
      return hasDurableTopics() ? "" : "durable topics";
    }
    if (workload.calls() == 0 && !hasEvents()) {
      return "events";
    }
    return workload.cluster().servers() > 1 && !hasClusters() ? "clusters" : "";
  }

  /**
   * Starts the server and waits until it accepts connections, or all servers of a workload with a
   * {@link Workload#cluster}, each linked with every other one.
   *
   * @throws DriverException if it does not start within its deadline
   */
  Session start(Workload workload);

  /**
   * A running server with clients. Several threads connect clients at the same time; the other
   * methods are called by one thread.
   */
  interface Session extends AutoCloseable {
    /** Returns the processes of the servers, whose CPU time and memory are measured together. */
    List<Long> serverPids();

    /**
     * Connects a publisher, to the server that the workload says. All subscribers are connected by
     * then: what is published after this returns must reach those at other servers too.
     *
     * @param number from 0
     * @throws DriverException if it cannot connect
     */
    Publisher publisher(int number);

    /**
     * Connects a subscriber and waits until the server has its subscription: what is published
     * after this returns must arrive.
     *
     * @param number from 0
     * @throws DriverException if it cannot connect or subscribe
     */
    Subscriber subscriber(int number, String filter, Receiver receiver);

    /** Returns how a connection of this system begins. */
    IdleHandshake idleHandshake();

    /**
     * Connects a caller, and a member of the service that it calls.
     *
     * @throws DriverException if they cannot connect, or the system has no calls
     */
    default DriverCalls calls() {
      throw new DriverException("no calls (expected: a system that has them)");
    }

    /**
     * Connects the publisher of a durable topic, whose events are stored from the first one on.
     *
     * @throws DriverException if it cannot connect, or the system stores nothing
     */
    default DriverJournal journal() {
      throw new DriverException("no durable topics (expected: a system that has them)");
    }

    /** Closes all clients and ends the server's process, within 20 seconds, whatever happens. */
    @Override
    void close();
  }

  /** Connection that publishes. Used by one thread, except for close. */
  interface Publisher extends AutoCloseable {
    /**
     * Publishes one event in the way that is fastest for the system; may block when the client's
     * buffer is full.
     *
     * @param payload becomes the driver's own: the caller does not touch it again
     * @throws DriverException if the event was refused or the connection is lost
     */
    void publish(int topic, byte[] payload);

    /**
     * Waits until all that was published has left the client, at most 10 seconds.
     *
     * @throws DriverException if it has not
     */
    void flush();

    @Override
    void close();
  }

  /** Connection that subscribes. */
  interface Subscriber extends AutoCloseable {
    /**
     * Returns how many events the system said that it dropped for this subscriber.
     *
     * @return 0 or more; 0 where the system tells nobody
     */
    long reportedLost();

    @Override
    void close();
  }

  /**
   * Takes a subscriber's events. A driver calls it from one thread at a time for each subscriber,
   * in the order of arrival, and with the payload exactly as it came.
   */
  interface Receiver {
    /** A time that is not known. */
    long UNKNOWN = -1;

    /**
     * Takes one event.
     *
     * @param payload from position to limit, big-endian; only valid during the call
     */
    void onEvent(ByteBuffer payload);

    /**
     * Takes one event of a system that says when its bus received it.
     *
     * @param busMicros when, in microseconds since the epoch by the bus's clock
     */
    default void onEvent(ByteBuffer payload, long busMicros) {
      onEvent(payload);
    }
  }
}
