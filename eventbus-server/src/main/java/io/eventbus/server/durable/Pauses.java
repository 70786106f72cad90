package io.eventbus.server.durable;

/** Runner of tasks that may wait for the disk, on threads for that. */
interface Pauses {
  /** Runs a task after a time in milliseconds; not if the bus has ended. */
  void run(Runnable task, long millis);
}
