package io.eventbus.client;

import java.time.Duration;

/** A request as the member that is to answer it sees it. Any thread may use it. */
public interface Invocation {
  /**
   * Returns what the caller sends.
   *
   * @return the event; its time is the caller's
   */
  Event event();

  /**
   * Returns the service that is called.
   *
   * @return its name
   */
  String service();

  /**
   * Returns what the service is to do.
   *
   * @return the method, empty for none
   */
  String method();

  /**
   * Returns who calls.
   *
   * @return the caller's producer number
   */
  long caller();

  /**
   * Returns which of the caller's requests this is: with {@link #caller} the same when it comes
   * again.
   *
   * @return 1 or more
   */
  long request();

  /**
   * Returns the name that the caller has proved to its bus.
   *
   * @return the name; empty without {@link ServiceOptions#identify}, or if the caller has none
   */
  String identity();

  /**
   * Returns how often the request was sent or given to a member before.
   *
   * @return 0 for the first time
   */
  int attempt();

  /**
   * Returns how long the caller still waits.
   *
   * @return the time until the deadline; zero after it
   */
  Duration remaining();

  /**
   * Says whether nobody waits for the answer any more: the caller has cancelled the request. The
   * handler may stop; it should still complete its stage, because its place is free only then.
   *
   * @return true from then on
   */
  boolean isCancelled();

  /**
   * Has a task run when the caller cancels the request: on the client's executor, at once if that
   * has happened already, never once the request is answered.
   *
   * @param task may block
   */
  void onCancel(Runnable task);
}
