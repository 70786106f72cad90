package io.eventbus.journal;

import io.eventbus.protocol.TopicFilter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Journals by number, by name and by the topics that they keep. Immutable. */
public final class JournalCatalog {
  /**
   * Journal of a catalog.
   *
   * @param number its number, which no other journal of the shard ever gets
   * @param creation random number of its creation, which no other journal has, also of another
   *     shard; 0 if it was created before there were such numbers
   */
  public record Item(int number, JournalDefinition definition, long creation) {}

  private record Selector(TopicFilter filter, Item item) {}

  private final SortedMap<Integer, Item> byNumber;
  private final Map<String, Item> byName;

  /**
   * Filters by their tokens before the first wildcard. A shard may have 10,000 journals with 64
   * filters each: a topic is compared only with those that begin as it does.
   */
  private final Map<String, List<Selector>> byPrefix;

  private JournalCatalog(
      SortedMap<Integer, Item> byNumber,
      Map<String, Item> byName,
      Map<String, List<Selector>> byPrefix) {
    this.byNumber = byNumber;
    this.byName = byName;
    this.byPrefix = byPrefix;
  }

  /** Returns a catalog of journals, whose numbers and names all differ. */
  public static JournalCatalog of(Collection<Item> journals) {
    JournalCatalog catalog = new JournalCatalog(new TreeMap<>(), new HashMap<>(), new HashMap<>());
    journals.forEach(catalog::add);
    return catalog;
  }

  /** Returns a catalog with a journal, in place of the one with its number. */
  public JournalCatalog with(Item item) {
    JournalCatalog changed = without(item.number());
    changed.copySelectors(item.definition());
    changed.add(item);
    return changed;
  }

  /** Returns a catalog without the journal of a number. */
  public JournalCatalog without(int number) {
    JournalCatalog changed =
        new JournalCatalog(new TreeMap<>(byNumber), new HashMap<>(byName), new HashMap<>(byPrefix));
    Item before = byNumber.get(number);
    if (before != null) {
      changed.copySelectors(before.definition());
      changed.remove(before);
    }
    return changed;
  }

  /** Copies the lists that a definition changes: another catalog has them, too. */
  private void copySelectors(JournalDefinition definition) {
    for (TopicFilter filter : definition.filters()) {
      byPrefix.computeIfPresent(prefix(filter), (prefix, shared) -> new ArrayList<>(shared));
    }
  }

  private void add(Item item) {
    byNumber.put(item.number(), item);
    byName.put(item.definition().name(), item);
    for (TopicFilter filter : item.definition().filters()) {
      byPrefix
          .computeIfAbsent(prefix(filter), prefix -> new ArrayList<>())
          .add(new Selector(filter, item));
    }
  }

  private void remove(Item item) {
    byNumber.remove(item.number());
    byName.remove(item.definition().name());
    for (TopicFilter filter : item.definition().filters()) {
      byPrefix.computeIfPresent(
          prefix(filter),
          (prefix, selectors) -> {
            selectors.removeIf(selector -> selector.item().equals(item));
            return selectors.isEmpty() ? null : selectors;
          });
    }
  }

  private static String prefix(TopicFilter filter) {
    List<String> tokens = filter.tokens();
    int wildcard = tokens.indexOf("*");
    return String.join(".", wildcard < 0 ? tokens : tokens.subList(0, wildcard));
  }

  /** Returns the journal of a number; null if there is none. */
  public @Nullable Item find(int number) {
    return byNumber.get(number);
  }

  /** Returns the journal of a name; null if there is none. */
  public @Nullable Item find(String name) {
    return byName.get(name);
  }

  /**
   * Returns the journal that keeps the events of a topic: that of the lowest number if there are
   * several; null if there is none.
   */
  public @Nullable Item route(String topic) {
    Item found = first(topic, "", null);
    for (int dot = topic.indexOf('.'); dot >= 0; dot = topic.indexOf('.', dot + 1)) {
      found = first(topic, topic.substring(0, dot), found);
    }
    return first(topic, topic, found);
  }

  /** Returns the first of a journal that was found and those with filters of a prefix. */
  private @Nullable Item first(String topic, String prefix, @Nullable Item found) {
    Item first = found;
    for (Selector selector : byPrefix.getOrDefault(prefix, List.of())) {
      boolean before = first == null || selector.item().number() < first.number();
      if (before && selector.filter().matches(topic)) {
        first = selector.item();
      }
    }
    return first;
  }

  /** Returns all journals, sorted by number. */
  public Collection<Item> all() {
    return Collections.unmodifiableCollection(byNumber.values());
  }
}
