package io.eventbus.client;

import java.time.Duration;

/** Request as seen by the member that is to answer it. Any thread may use it. */
public interface Invocation {
  /**
   * Returns the caller's event.
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
   * Returns the requested method.
   *
   * @return the method, empty for none
   */
  String method();

  /**
   * Returns the caller.
   *
   * @return the caller's producer number
   */
  long caller();

  /**
   * Returns the number of the request among the caller's: with {@link #caller} the same when it
   * comes again.
   *
   * @return 1 or more
   */
  long request();

  /**
   * Returns the authenticated name of the caller.
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
   * Returns the time for which the caller still waits.
   *
   * @return the time until the deadline; zero after it
   */
  Duration remaining();

  /**
   * Returns whether the caller has cancelled the request and waits for no answer. The handler may
   * stop; it should still complete its stage, because its slot is free only then.
   *
   * @return true from then on
   */
  boolean isCancelled();

  /**
   * Sets a task that runs when the caller cancels the request: on the client's executor, at once if
   * that has happened already, never once the request is answered.
   *
   * @param task may block
   */
  void onCancel(Runnable task);
}
