package io.eventbus.loadtest.faults.history;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Everything that the clients of one journal did and saw. Times are nanoseconds of one clock.
 *
 * @param finals the whole journal, read at each bus when everything was over
 * @param forgotten producers that were told that the bus did not know them any more: what they had
 *     under way may be stored twice
 */
public record History(
    List<ClientConnection> connections,
    List<Publication> publications,
    List<Reading> readings,
    List<Consumption> consumptions,
    List<WorkQueue> queues,
    List<BusFault> faults,
    List<Reading> finals,
    Set<String> forgotten) {
  /** Copies the collections. */
  public History {
    connections = List.copyOf(connections);
    publications = List.copyOf(publications);
    readings = List.copyOf(readings);
    consumptions = List.copyOf(consumptions);
    queues = List.copyOf(queues);
    faults = List.copyOf(faults);
    finals = List.copyOf(finals);
    forgotten = Set.copyOf(forgotten);
  }

  /** Returns the time before the first call that published each event. */
  Map<EventName, Long> published() {
    Map<EventName, Long> published = new HashMap<>();
    for (Publication publication : publications) {
      published.merge(publication.event(), publication.called(), Math::min);
    }
    return published;
  }
}
