package io.eventbus.journal;

/**
 * Facts about published events that are the same for all of them, or follow from those of the
 * first.
 *
 * @param journal number of the journal, 1 or more
 * @param topic the topic in UTF-8, at most 255 bytes; not changed by anybody
 * @param producer the key by which repetitions of the publisher are known, 1 to {@value
 *     #MAX_PRODUCER_BYTES} bytes; not changed by anybody
 * @param originProducer the publisher's number, as subscribers are told
 * @param originSequence the publisher's number of the first event in this topic, as subscribers are
 *     told, 1 or more
 * @param sequence the number of the first event by which repetitions of that key are known, 1 or
 *     more
 * @param previous the number before it that the publisher has sent on the same connection, -1 if
 *     this is the first
 * @param expect 0 for no expectation, 1 if the topic is to be empty, else the position of its last
 *     event and one; {@link #NO_ROOM} to store nothing
 * @param schema fingerprint of the payloads' schema, 0 for none
 * @param receivedAt microseconds since the epoch, by the clock of the publisher's bus
 * @param ttlMillis how long the events are delivered, in milliseconds, 0 for always
 * @param delayMillis how long they wait before they get a position, in milliseconds
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record PublishHead(
    int journal,
    byte[] topic,
    byte[] producer,
    long originProducer,
    long originSequence,
    long sequence,
    long previous,
    long expect,
    long schema,
    long receivedAt,
    long ttlMillis,
    long delayMillis) {
  /** Maximum size of a producer's key, in bytes. */
  public static final int MAX_PRODUCER_BYTES = 128;

  /** Maximum time to live and maximum delay: ten years, in milliseconds. */
  public static final long MAX_MILLIS = 10L * 365 * 24 * 60 * 60 * 1000;

  /**
   * Expectation of events for which their account has no room: refused with {@link
   * JournalRefusalReason#STORE_FULL}, unless they repeat what is known.
   */
  public static final long NO_ROOM = Long.MAX_VALUE;

  /** Returns the publisher's number, as subscribers are told, of the event with a sequence. */
  public long originOf(long eventSequence) {
    return originSequence + (eventSequence - sequence);
  }
}
