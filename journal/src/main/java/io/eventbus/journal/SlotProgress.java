package io.eventbus.journal;

import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a consumer of a key-shared cursor has settled, all in all: one that is stored twice, or in
 * place of another that came before, does no harm.
 *
 * @param serial number of this progress, more than that of the consumer's one before
 * @param generation number of the last gift that the consumer knows: it speaks for the slots that
 *     it got until then
 * @param upTo floor of all of these slots but for the exceptions
 * @param exceptions other states, by slot
 * @param ends dead letters, and those of them that came again and are settled; at most {@value
 *     SlotEnd#MAX_TOGETHER}
 * @param given slots that the consumer gives up
 */
public record SlotProgress(
    long serial,
    long generation,
    long upTo,
    NavigableMap<Integer, SlotState> exceptions,
    List<SlotEnd> ends,
    SortedSet<Integer> given) {
  /** Copies the collections. */
  public SlotProgress {
    exceptions = Collections.unmodifiableNavigableMap(new TreeMap<>(exceptions));
    ends = List.copyOf(ends);
    given = Collections.unmodifiableSortedSet(new TreeSet<>(given));
  }
}
