package io.eventbus.journal.chunk;

/**
 * Facts about the events of one stored frame that are the same for all of them, or follow from
 * those of the first.
 *
 * @param topic number of the topic in its journal
 * @param topicName the topic in UTF-8; not changed by anybody
 * @param sequence number of the first event in its topic, from 1
 * @param schema fingerprint of the payloads' schema, 0 for none
 * @param receivedAt microseconds since the epoch, by the clock of the publisher's bus
 * @param originProducer number of the publisher
 * @param originSequence the publisher's number of the first event in this topic
 * @param expiry time of the shard in milliseconds from which on the events are not delivered any
 *     more, 0 for none
 */
@SuppressWarnings("ArrayRecordComponent") // shared with the cache of topics, never compared
public record FrameHead(
    long topic,
    byte[] topicName,
    long sequence,
    long schema,
    long receivedAt,
    long originProducer,
    long originSequence,
    long expiry) {
  /** Returns the head of what is left when the first events are taken away. */
  FrameHead after(int events) {
    return new FrameHead(
        topic,
        topicName,
        sequence + events,
        schema,
        receivedAt,
        originProducer,
        originSequence + events,
        expiry);
  }
}
