package io.eventbus.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JournalCatalogTest {
  private static final List<String> TOPICS =
      List.of("a", "b", "a.a", "a.b", "b.a", "a.a.b", "a.b.b", "b.a.a.b", "c", "$a", "$a.b");
  private static final List<String> FILTERS =
      List.of("a", "a.b", "a.>", "a.*", "*.b", "*", "*.*.b", "a.*.b", "b.a.>", ">", "b.*.a.*");

  private final Random random = new Random(3);

  private JournalDefinition definition(int number) {
    List<TopicFilter> filters =
        random
            .ints(1 + random.nextInt(3), 0, FILTERS.size())
            .mapToObj(each -> TopicFilter.parse(FILTERS.get(each)))
            .toList();
    return new JournalDefinition(
        "j" + number, filters, KeepPolicy.ALL, Retention.UNLIMITED, FullPolicy.DROP_OLD);
  }

  /** Compares the routes of a catalog with those that a look at all filters finds. */
  private static void check(JournalCatalog catalog) {
    for (String topic : TOPICS) {
      JournalCatalog.@Nullable Item expected =
          catalog.all().stream()
              .filter(item -> item.definition().selects(topic))
              .findFirst()
              .orElse(null);
      assertThat(catalog.route(topic)).as(topic).isEqualTo(expected);
    }
  }

  @Test
  void theFirstJournalThatSelectsATopicKeepsItsEvents() {
    for (int round = 0; round < 300; round++) {
      List<JournalCatalog.Item> items =
          new ArrayList<>(
              IntStream.rangeClosed(1, random.nextInt(6))
                  .mapToObj(each -> new JournalCatalog.Item(2 * each, definition(each), 0))
                  .toList());
      check(JournalCatalog.of(items));
    }
  }

  @Test
  void aChangedCatalogLeavesTheOneBeforeAsItWas() {
    JournalCatalog catalog = JournalCatalog.of(List.of());
    for (int i = 0; i < 1_000; i++) {
      JournalCatalog before = catalog;
      List<JournalCatalog.@Nullable Item> routes = routes(before);
      int number = 1 + random.nextInt(8);
      JournalDefinition definition = random.nextInt(4) == 0 ? null : definition(number);
      catalog =
          definition == null
              ? catalog.without(number)
              : catalog.with(new JournalCatalog.Item(number, definition, i));
      check(catalog);
      assertThat(routes(before)).isEqualTo(routes);
      assertThat(catalog.find("j" + number)).isEqualTo(catalog.find(number));
      assertThat(catalog.find(number) == null).isEqualTo(definition == null);
    }
  }

  private static List<JournalCatalog.@Nullable Item> routes(JournalCatalog catalog) {
    List<JournalCatalog.@Nullable Item> routes = new ArrayList<>();
    TOPICS.forEach(topic -> routes.add(catalog.route(topic)));
    return routes;
  }
}
