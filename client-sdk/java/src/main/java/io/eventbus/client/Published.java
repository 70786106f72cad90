package io.eventbus.client;

/**
 * Confirmation of a published event. If the topic is durable, the event is on the disks of a
 * majority of the journal's buses; else the bus handed it to the queues of the subscribers that it
 * knew of.
 *
 * @param topic the topic
 * @param producer the number that the bus knows this client by
 * @param sequence the event's number among this client's events of the topic, from 1
 * @param receivers how many subscribers of the bus, plus how many other buses, the event was queued
 *     for; 0 when nobody was subscribed, -1 when the bus did not say, as for a durable topic
 * @param position the event's position in its journal, from 1; 0 if the topic is not durable, if
 *     the event waits for its time ({@link PublishOptions#delay}), or if the position is not known
 *     of an event that was stored before
 * @param repeated whether the event, or another one of its frame, was stored before: it is there
 *     once
 */
public record Published(
    String topic, long producer, long sequence, long receivers, long position, boolean repeated) {
  /**
   * Creates the confirmation of an event of a topic that is not durable.
   *
   * @param topic as above
   * @param producer as above
   * @param sequence as above
   * @param receivers as above
   */
  public Published(String topic, long producer, long sequence, long receivers) {
    this(topic, producer, sequence, receivers, 0, false);
  }
}
