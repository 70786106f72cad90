package io.eventbus.journal;

import java.util.List;

/**
 * Answer to one read. Parts and holes are sorted by position; a wanted event from {@code from} to
 * {@code to} is in a part or in a hole.
 *
 * @param from the position that was asked for
 * @param to the last position that is covered; {@code from - 1} if there is none yet
 * @param parts what was wanted; the first may begin before {@code from}
 * @param holes what is not there
 * @param bytes bytes that were read for it
 */
public record ReadBatch(
    long from, long to, List<ReadPart> parts, List<ReadHole> holes, long bytes) {
  /** Copies the lists. */
  public ReadBatch {
    parts = List.copyOf(parts);
    holes = List.copyOf(holes);
  }

  /**
   * Returns what is before a position at which no part begins earlier and ends later.
   *
   * @param end the position
   */
  public ReadBatch before(long end) {
    return new ReadBatch(
        from,
        end - 1,
        parts.stream().filter(part -> part.position() < end).toList(),
        holes.stream()
            .filter(hole -> hole.from() < end)
            .map(hole -> new ReadHole(hole.reason(), hole.from(), Math.min(hole.to(), end - 1)))
            .toList(),
        bytes);
  }
}
