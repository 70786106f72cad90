package io.eventbus.server.sys;

/** Receiver of events of the bus. An implementation must not block and must not throw. */
@FunctionalInterface
interface Publisher {
  /**
   * Publishes an event, or drops it.
   *
   * @param payload not changed afterwards
   */
  void publish(String topic, byte[] payload);
}
