package io.eventbus.server.delivery;

/** Task for an event loop that says how much work it is, so that the loop reads in between. */
public interface MeasuredTask extends Runnable {
  /** Returns the work, in deliveries to a subscriber; on the loop, before the task runs. */
  int work();
}
