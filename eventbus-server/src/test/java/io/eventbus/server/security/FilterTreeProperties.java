package io.eventbus.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;

/** Tree against each of its filters by itself. */
class FilterTreeProperties {
  @Provide
  Arbitrary<TopicFilter> filters() {
    // Two pairs of names have the same hash.
    Arbitrary<String> tokens = Arbitraries.of("a", "*", "$S", "Aa", "BB", "AaAa", "BBBB", "c");
    return Combinators.combine(tokens.list().ofMinSize(1).ofMaxSize(4), Arbitraries.of(false, true))
        .as((some, tail) -> TopicFilter.parse(String.join(".", some) + (tail ? ".>" : "")));
  }

  @Provide
  Arbitrary<String> topics() {
    return Arbitraries.of("a", "$S", "Aa", "BB", "AaAa", "BBBB", "c", "x")
        .list()
        .ofMinSize(1)
        .ofMaxSize(5)
        .map(tokens -> String.join(".", tokens));
  }

  @Property(tries = 1000)
  void matchesIfAFilterMatches(
      @ForAll @Size(max = 40) List<@From("filters") TopicFilter> filters,
      @ForAll @Size(max = 20) List<@From("topics") String> topics) {
    FilterTree tree = new FilterTree(filters);
    for (String topic : topics) {
      assertThat(tree.matches(topic))
          .as(topic)
          .isEqualTo(filters.stream().anyMatch(f -> f.matches(topic)));
    }
  }

  @Example
  void theWholeIsOfOneFilterToo() {
    FilterTree all = new FilterTree(List.of(TopicFilter.parse(">")));
    assertThat(all.matches("a")).isTrue();
    assertThat(all.matches("a.b.c")).isTrue();
    assertThat(all.matches("$SYS")).isFalse();
    assertThat(all.matches("$SYS.a")).isFalse();
  }

  @Example
  void theCostOfATopicIsKnown() {
    assertThat(new FilterTree(List.of()).steps()).isEqualTo(1);
    List<TopicFilter> plain =
        List.of(TopicFilter.parse("a.b.c"), TopicFilter.parse("b.>"), TopicFilter.parse("c"));
    assertThat(new FilterTree(plain).steps()).isEqualTo(4);
    List<TopicFilter> both =
        List.of("a.a", "a.*", "*.a", "*.*").stream().map(TopicFilter::parse).toList();
    assertThat(new FilterTree(both).steps()).isEqualTo(7);
  }
}
