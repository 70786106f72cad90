package io.eventbus.journal;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Journals by number and by name. Immutable. */
public final class JournalCatalog {
  /**
   * Journal of a catalog.
   *
   * @param number its number, which no other journal of the shard ever gets
   */
  public record Item(int number, JournalDefinition definition) {}

  private final SortedMap<Integer, Item> byNumber;
  private final Map<String, Item> byName = new HashMap<>();

  private JournalCatalog(SortedMap<Integer, Item> byNumber) {
    this.byNumber = byNumber;
    byNumber.values().forEach(item -> byName.put(item.definition().name(), item));
  }

  /** Returns a catalog of journals, whose numbers and names all differ. */
  public static JournalCatalog of(Collection<Item> journals) {
    SortedMap<Integer, Item> byNumber = new TreeMap<>();
    journals.forEach(item -> byNumber.put(item.number(), item));
    return new JournalCatalog(byNumber);
  }

  /** Returns a catalog with another definition of a journal; null if the journal is gone. */
  public JournalCatalog with(int number, @Nullable JournalDefinition definition) {
    SortedMap<Integer, Item> changed = new TreeMap<>(byNumber);
    if (definition == null) {
      changed.remove(number);
    } else {
      changed.put(number, new Item(number, definition));
    }
    return new JournalCatalog(changed);
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
   * several; null if there is none. Looks at all filters, so that callers remember the answer until
   * the catalog is another one.
   */
  public @Nullable Item route(String topic) {
    for (Item item : byNumber.values()) {
      if (item.definition().selects(topic)) {
        return item;
      }
    }
    return null;
  }

  /** Returns all journals, sorted by number. */
  public Collection<Item> all() {
    return Collections.unmodifiableCollection(byNumber.values());
  }
}
