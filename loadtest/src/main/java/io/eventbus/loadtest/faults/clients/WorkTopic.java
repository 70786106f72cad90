package io.eventbus.loadtest.faults.clients;

import io.eventbus.loadtest.faults.history.WorkQueue;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Shared durable subscription of the fault runs.
 *
 * @param letsPass whether workers let the ack timeout pass
 */
record WorkTopic(String name, String filter, WorkQueue.Limits limits, boolean letsPass) {
  /**
   * List of all. Within the long ack timeout of the second one an event comes again for other
   * causes only, and not before its retry is due; a short one may be the cause of anything.
   */
  static final List<WorkTopic> ALL =
      List.of(
          new WorkTopic(
              "hasty",
              FaultTopics.NAMED + ">",
              new WorkQueue.Limits(TimeUnit.SECONDS.toNanos(2), 4),
              true),
          new WorkTopic(
              "patient",
              FaultTopics.PLAIN + ">",
              new WorkQueue.Limits(TimeUnit.SECONDS.toNanos(30), 6),
              false));

  /** Returns its record. */
  OpenQueue record(Recorder recorder) {
    return recorder.queue(name, filter, limits);
  }
}
