package io.eventbus.server.subscription;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.RouteTarget;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.samples.FakeSubscriber;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;

/** Index against a list of subscriptions that is walked with {@link TopicFilter#matches}. */
class SubscriptionIndexProperties {
  private static final int LOOPS = 3;
  // From the weakest promise to the strictest.
  private static final List<Overflow> STRICTNESS =
      List.of(Overflow.DROP_OLDEST, Overflow.CONFLATE, Overflow.DISCONNECT, Overflow.BLOCK);

  sealed interface Step {}

  record Add(int subscriber, String filter, @Nullable String group, Overflow overflow)
      implements Step {}

  record Remove(int which) implements Step {}

  record Lookup(String topic) implements Step {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<String> middle =
        Arbitraries.of("a", "b", "*", "$S", "ab").list().ofMinSize(1).ofMaxSize(3).map(this::join);
    Arbitrary<String> filter =
        Combinators.combine(middle, Arbitraries.of("", ".>", "only >"))
            .as((head, tail) -> tail.equals("only >") ? ">" : head + tail);
    Arbitrary<Step> add =
        Combinators.combine(
                Arbitraries.integers().between(0, 5),
                filter,
                Arbitraries.of("g", "h").injectNull(0.6),
                Arbitraries.of(Overflow.values()))
            .as(Add::new);
    Arbitrary<Step> remove = Arbitraries.integers().between(0, 100).map(Remove::new);
    Arbitrary<Step> lookup =
        Arbitraries.of("a", "b", "c", "$S", "ab")
            .list()
            .ofMinSize(1)
            .ofMaxSize(4)
            .map(this::join)
            .map(Lookup::new);
    return Arbitraries.oneOf(add, add, remove, lookup, lookup).list().ofMaxSize(60);
  }

  private String join(List<String> tokens) {
    return String.join(".", tokens);
  }

  @Property
  void agreesWithAList(@ForAll("steps") List<Step> steps) {
    SubscriptionIndex index = new SubscriptionIndex(LOOPS);
    List<FakeSubscriber> subscribers = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      subscribers.add(new FakeSubscriber(i % LOOPS));
    }
    List<RoutedSubscription> model = new ArrayList<>();
    Map<String, TopicRoute> remembered = new LinkedHashMap<>();
    MatchResult matches = new MatchResult();
    long id = 0;
    for (Step step : steps) {
      if (step instanceof Add add) {
        RoutedSubscription s =
            new RoutedSubscription(
                subscribers.get(add.subscriber()),
                id++,
                TopicFilter.parse(add.filter()),
                add.group(),
                add.overflow());
        index.add(s);
        model.add(s);
      } else if (step instanceof Remove remove && !model.isEmpty()) {
        RoutedSubscription gone = model.remove(remove.which() % model.size());
        index.remove(gone);
        // Twice, or never added: no effect.
        index.remove(gone);
        index.remove(
            new RoutedSubscription(gone.subscriber(), 0, gone.filter(), null, gone.overflow()));
      } else if (step instanceof Lookup lookup) {
        TopicRoute route =
            remembered.computeIfAbsent(lookup.topic(), topic -> new TopicRoute(topic, index));
        index.refresh(route, matches);
        assertThat(index.isCurrent(route)).isTrue();
        assertThat(route.route.isShared()).isTrue();
        check(index, route.route, model, lookup.topic());
      }
      assertThat(index.size()).isEqualTo(model.size());
      assertThat(index.patterns()).isEqualTo(patterns(model));
      remembered.forEach(
          (topic, route) -> {
            if (index.isCurrent(route)) {
              check(index, route.route, model, topic);
            }
          });
    }
    assertThat(index.routeBytes())
        .isEqualTo(
            remembered.values().stream().map(r -> r.route).distinct().mapToLong(r -> r.bytes).sum()
                - (remembered.values().stream().anyMatch(r -> r.route == index.nobody())
                    ? index.nobody().bytes
                    : 0));
    remembered.values().forEach(index::forget);
    assertThat(index.routeBytes()).as("routes that nobody remembers").isZero();
    model.forEach(index::remove);
    assertThat(index.size()).isZero();
    assertThat(index.footprint()).as("what is left of subscriptions that are gone").isZero();
  }

  /** Returns the number of patterns: filters without the names of their tokens. */
  private static long patterns(List<RoutedSubscription> model) {
    return model.stream()
        .map(RoutedSubscription::filter)
        .filter(f -> !f.isExact())
        .map(f -> f.toString().replaceAll("[^.*>]+", "name"))
        .distinct()
        .count();
  }

  private static void check(
      SubscriptionIndex index, Route route, List<RoutedSubscription> model, String topic) {
    Map<Subscriber, Overflow> plain = new LinkedHashMap<>();
    Map<String, Set<Subscriber>> groups = new LinkedHashMap<>();
    for (RoutedSubscription s : model) {
      String group = s.group();
      if (s.filter().matches(topic)) {
        if (group == null) {
          plain.merge(s.subscriber(), s.overflow(), SubscriptionIndexProperties::stricter);
        } else {
          groups.computeIfAbsent(group, g -> new LinkedHashSet<>()).add(s.subscriber());
        }
      }
    }
    Map<Subscriber, Overflow> found = new LinkedHashMap<>();
    assertThat(route.byLoop()).hasNumberOfRows(LOOPS);
    for (int loop = 0; loop < LOOPS; loop++) {
      for (RouteTarget target : route.byLoop()[loop]) {
        assertThat(target.subscriber().loop()).isEqualTo(loop);
        assertThat(found.put(target.subscriber(), target.overflow())).as("once").isNull();
      }
    }
    assertThat(found).isEqualTo(plain);
    assertThat(index.subscribers(topic)).isEqualTo(plain.size() + groups.size());
    assertThat(route.targetCount()).isEqualTo(plain.size());
    assertThat(route.blocking())
        .containsExactlyInAnyOrder(
            plain.entrySet().stream()
                .filter(e -> e.getValue() == Overflow.BLOCK)
                .map(Map.Entry::getKey)
                .toArray(Subscriber[]::new));
    List<Set<Subscriber>> foundGroups = new ArrayList<>();
    for (int g = 0; g < route.groups().size(); g++) {
      Set<Subscriber> once = new LinkedHashSet<>();
      String name = route.groups().member(g, 0).group();
      assertThat(index.group(route, String.valueOf(name))).isEqualTo(g);
      for (int i = 0; i < route.groups().size(g); i++) {
        RoutedSubscription s = route.groups().member(g, i);
        assertThat(once.add(s.subscriber())).as("once in a group").isTrue();
        assertThat(s.filter().matches(topic)).isTrue();
        assertThat(s.group()).isEqualTo(name);
      }
      foundGroups.add(once);
      assertThat(groups.get(name)).isEqualTo(once);
      int group = g;
      assertThat(g < route.groups().blocking())
          .isEqualTo(
              IntStream.range(0, route.groups().size(g))
                  .allMatch(i -> route.groups().member(group, i).overflow() == Overflow.BLOCK));
    }
    assertThat(foundGroups).containsExactlyInAnyOrderElementsOf(groups.values());
    assertThat(route.isEmpty()).isEqualTo(plain.isEmpty() && groups.isEmpty());
    groups
        .values()
        .forEach(
            members ->
                members.forEach(
                    s -> assertThat(route.ungroupedOverflow(s)).isEqualTo(plain.get(s))));
  }

  private static Overflow stricter(Overflow a, Overflow b) {
    return List.of(a, b).stream().max(Comparator.comparingInt(STRICTNESS::indexOf)).orElseThrow();
  }
}
