package io.eventbus.loadtest.faults.clients;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Journal of the fault runs, and its topics. */
public final class FaultTopics {
  /** The name of the journal. */
  public static final String JOURNAL = "faults";

  /** The filter of the journal. */
  public static final String ALL = "faults.>";

  /** Topics of publishers that the bus knows by their connection. */
  static final String PLAIN = "faults.plain.";

  /** Topics of publishers with names and numbers of their own. */
  static final String NAMED = "faults.named.";

  /** Topic of events with expectations. */
  static final String CONTEST = "faults.contest.0";

  static final int EACH = 3;

  private FaultTopics() {}

  /** Returns the topics that a filter selects, which is one of these names, and its last dot. */
  static Set<String> selectedBy(String filter) {
    String prefix = filter.substring(0, filter.length() - 1);
    return Stream.concat(
            Stream.of(CONTEST),
            Stream.of(PLAIN, NAMED)
                .flatMap(kind -> Stream.iterate(0, i -> i < EACH, i -> i + 1).map(i -> kind + i)))
        .filter(topic -> topic.startsWith(prefix))
        .collect(Collectors.toUnmodifiableSet());
  }
}
