package io.eventbus.journal.state;

import io.eventbus.protocol.BodyReader;

/** Counters of a shard. Confined to the thread that applies entries. */
final class ShardCounters {
  private static final int FORMAT = 1;

  long stamp;
  long journals;
  long lastJournal;
  long producers;
  long delayed;
  long delayedBytes;
  long lastDelayed;
  // No producer was last heard before this time, but for some of journals that are deleted.
  long idleFrom;

  ShardCounters() {}

  static ShardCounters decode(byte[] value) {
    BodyReader in = RowFormat.reader(value, FORMAT);
    ShardCounters counters = new ShardCounters();
    counters.stamp = in.readLong("stamp");
    counters.journals = in.readLong("journals");
    counters.lastJournal = in.readLong("lastJournal");
    counters.producers = in.readLong("producers");
    counters.delayed = in.readLong("delayed");
    counters.delayedBytes = in.readLong("delayedBytes");
    counters.lastDelayed = in.readLong("lastDelayed");
    counters.idleFrom = in.readLong("idleFrom");
    RowFormat.checkEnd(in, value);
    return counters;
  }

  byte[] encode() {
    return RowFormat.ofNumbers(
        FORMAT,
        stamp,
        journals,
        lastJournal,
        producers,
        delayed,
        delayedBytes,
        lastDelayed,
        idleFrom);
  }
}
