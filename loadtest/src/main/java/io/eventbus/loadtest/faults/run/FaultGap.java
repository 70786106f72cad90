package io.eventbus.loadtest.faults.run;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Longest times without a confirmation around a fault.
 *
 * @param buses those the fault happened to
 * @param alone whether no other fault was there meanwhile
 * @param atMillis the time of the fault, in milliseconds of the run
 * @param millis longest time in which no publisher got a confirmation
 * @param elsewhereMillis the same for publishers that were connected with other buses when the
 *     fault began; null if there were none
 */
public record FaultGap(
    FaultKind kind,
    List<String> buses,
    boolean alone,
    long atMillis,
    long millis,
    @Nullable Long elsewhereMillis) {
  /** Copies the list. */
  public FaultGap {
    buses = List.copyOf(buses);
  }
}
