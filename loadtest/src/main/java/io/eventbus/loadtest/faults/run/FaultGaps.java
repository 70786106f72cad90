package io.eventbus.loadtest.faults.run;

import io.eventbus.loadtest.faults.history.ClientConnection;
import io.eventbus.loadtest.faults.history.History;
import io.eventbus.loadtest.faults.history.Publication;
import io.eventbus.loadtest.faults.history.PublishAnswer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Times without a confirmation around the faults of a run.
 *
 * @param faults in their order
 * @param summaries for each kind of faults that were alone, and of those that were not
 */
public record FaultGaps(List<FaultGap> faults, List<Summary> summaries) {
  private static final long NANOS = 1_000_000;

  /** Copies the collections. */
  public FaultGaps {
    faults = List.copyOf(faults);
    summaries = List.copyOf(summaries);
  }

  /**
   * Summary of faults of one kind. Times are milliseconds.
   *
   * @param alone whether these faults were alone
   * @param elsewhere of publishers at other buses; null if there were none at any fault
   */
  public record Summary(
      FaultKind kind, boolean alone, int faults, Spread all, @Nullable Spread elsewhere) {}

  /** Median and maximum, in milliseconds. */
  public record Spread(long median, long longest) {
    /** Returns the spread of values; empty if there are none. */
    static Optional<Spread> of(List<Long> values) {
      List<Long> sorted = values.stream().sorted().toList();
      return sorted.isEmpty()
          ? Optional.empty()
          : Optional.of(new Spread(sorted.get(sorted.size() / 2), sorted.get(sorted.size() - 1)));
    }
  }

  /** Computes the times from a history. */
  static FaultGaps of(History history, List<FaultWindow> windows) {
    List<Publication> confirmed =
        history.publications().stream()
            .filter(publication -> publication.answer() instanceof PublishAnswer.Stored)
            .sorted(Comparator.comparingLong(Publication::answered))
            .toList();
    List<FaultGap> gaps = new ArrayList<>();
    for (FaultWindow window : windows) {
      Set<String> elsewhere = elsewhere(history, window);
      gaps.add(
          new FaultGap(
              window.kind(),
              window.buses(),
              window.alone(),
              window.begin() / NANOS,
              longest(window, confirmed, publisher -> true) / NANOS,
              elsewhere.isEmpty()
                  ? null
                  : longest(window, confirmed, elsewhere::contains) / NANOS));
    }
    return new FaultGaps(gaps, summaries(gaps));
  }

  /** Returns the publishers that were connected with other buses when a fault began. */
  private static Set<String> elsewhere(History history, FaultWindow window) {
    Map<String, String> where = new HashMap<>();
    history.connections().stream()
        .filter(connection -> connection.since() <= window.begin())
        .sorted(Comparator.comparingLong(ClientConnection::since))
        .forEach(connection -> where.put(connection.client(), connection.bus()));
    where.values().removeAll(window.buses());
    // Other clients never get a confirmation.
    where
        .keySet()
        .retainAll(
            history.publications().stream()
                .map(publication -> publication.event().producer())
                .collect(Collectors.toSet()));
    return where.keySet();
  }

  /** Returns the longest time without a confirmation of which a part is in the window. */
  private static long longest(
      FaultWindow window, List<Publication> confirmed, Predicate<String> publisher) {
    long longest = 0;
    long last = window.begin();
    for (Publication publication : confirmed) {
      if (!publisher.test(publication.event().producer())) {
        continue;
      }
      long now = publication.answered();
      if (now > window.begin()) {
        longest = Math.max(longest, now - last);
      }
      last = now;
      if (now >= window.end()) {
        return longest;
      }
    }
    return Math.max(longest, window.end() - last);
  }

  private static List<Summary> summaries(List<FaultGap> gaps) {
    List<Summary> summaries = new ArrayList<>();
    for (FaultKind kind : FaultKind.values()) {
      for (boolean alone : List.of(true, false)) {
        List<FaultGap> some =
            gaps.stream().filter(gap -> gap.kind() == kind && gap.alone() == alone).toList();
        Spread.of(some.stream().map(FaultGap::millis).toList())
            .ifPresent(
                all ->
                    summaries.add(
                        new Summary(
                            kind,
                            alone,
                            some.size(),
                            all,
                            Spread.of(
                                    some.stream()
                                        .flatMap(gap -> Stream.ofNullable(gap.elsewhereMillis()))
                                        .toList())
                                .orElse(null))));
      }
    }
    return summaries;
  }
}
