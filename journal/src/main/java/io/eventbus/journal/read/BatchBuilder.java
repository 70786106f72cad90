package io.eventbus.journal.read;

import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.ReadHole;
import io.eventbus.journal.ReadHole.Reason;
import io.eventbus.journal.ReadPart;
import io.eventbus.journal.chunk.ChunkView;
import java.util.ArrayList;
import java.util.List;

/** Batch that is being read: how far it has come, and what was found. */
final class BatchBuilder {
  private final ReadRequest request;
  private final List<ReadPart> parts = new ArrayList<>();
  private final List<ReadHole> holes = new ArrayList<>();
  private long next;
  private long bytes;

  BatchBuilder(ReadRequest request) {
    this.request = request;
    next = request.from();
  }

  /** Returns the first position that is not covered yet. */
  long next() {
    return next;
  }

  boolean isFull() {
    return bytes >= request.maxBytes();
  }

  void addBytes(long read) {
    bytes += read;
  }

  /** Covers everything before a position, where nothing is wanted. */
  void coverUntil(long position) {
    next = Math.max(next, position);
  }

  /** Covers everything before a position, and tells that what is not covered yet is not there. */
  void holeUntil(Reason reason, long position) {
    if (position > next) {
      add(reason, next, position - 1);
      next = position;
    }
  }

  /** Adds a hole, as a part of the one before it if it can be. */
  private void add(Reason reason, long from, long to) {
    int last = holes.size() - 1;
    ReadHole before = last < 0 ? null : holes.get(last);
    if (before != null && before.reason() == reason && before.to() == from - 1) {
      holes.set(last, new ReadHole(reason, before.from(), to));
    } else {
      holes.add(new ReadHole(reason, from, to));
    }
  }

  /** Covers a part of a chunk, at which a view stands. */
  void cover(ChunkView part) {
    long end = part.position() + part.events();
    if (end <= next) {
      return;
    }
    if (request.topics().test(part.topic())) {
      if (part.expiry() != 0 && part.expiry() <= request.now()) {
        add(Reason.EXPIRED, Math.max(next, part.position()), end - 1);
      } else {
        parts.add(new ReadPart(part.position(), part.events(), part.topic(), part.frame()));
      }
    }
    next = end;
  }

  ReadBatch build() {
    return new ReadBatch(request.from(), next - 1, parts, holes, bytes);
  }
}
