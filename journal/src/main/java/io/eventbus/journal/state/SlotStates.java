package io.eventbus.journal.state;

import io.eventbus.journal.SlotState;
import java.util.Collections;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * States of slots. Immutable.
 *
 * @param upTo floor of most slots
 * @param exceptions states of the others, by slot
 */
public record SlotStates(long upTo, NavigableMap<Integer, SlotState> exceptions) {
  /** States of no slots. */
  static final SlotStates NONE = new SlotStates(0, Collections.emptyNavigableMap());

  /** Memory of an exception, in bytes. */
  static final int STATE_BYTES = 160;

  /** Copies the map. */
  public SlotStates {
    exceptions = Collections.unmodifiableNavigableMap(new TreeMap<>(exceptions));
  }

  /** Returns the state of a slot. */
  public SlotState of(int slot) {
    SlotState state = exceptions.get(slot);
    return state == null ? SlotState.at(upTo) : state;
  }
}
