package io.eventbus.server.durable;

import io.eventbus.journal.JournalCatalog;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.routing.JournalRoutes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Filters of all journals by account. Immutable. */
final class DurableRoutes implements JournalRoutes.Table {
  private record Filter(TopicFilter filter, int journal) {}

  private final Map<String, List<Filter>> byAccount = new HashMap<>();

  DurableRoutes(JournalCatalog catalog) {
    for (JournalCatalog.Item item : catalog.all()) {
      List<Filter> filters =
          byAccount.computeIfAbsent(
              JournalName.of(item.definition().name()).account(), account -> new ArrayList<>());
      item.definition().filters().forEach(each -> filters.add(new Filter(each, item.number())));
    }
  }

  @Override
  public int journal(String account, String topic) {
    for (Filter each : byAccount.getOrDefault(account, List.of())) {
      if (each.filter.matches(topic)) {
        return each.journal;
      }
    }
    return 0;
  }

  /** Returns whether an account has journals. */
  boolean hasAny(String account) {
    return byAccount.containsKey(account);
  }

  /** Returns the journals of an account that have topics of a filter. */
  Set<Integer> journals(String account, TopicFilter filter) {
    Set<Integer> journals = new HashSet<>();
    for (Filter each : byAccount.getOrDefault(account, List.of())) {
      if (each.filter.intersects(filter)) {
        journals.add(each.journal);
      }
    }
    return journals;
  }

  @Override
  public int work(String account) {
    return byAccount.getOrDefault(account, List.of()).size();
  }
}
