package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Filters against a regular expression with the same meaning. */
class TopicFilterProperties {
  // Few tokens, some of them prefixes of others, so that topics and filters often meet.
  private static final List<String> TOKENS = List.of("a", "ab", "b", "$s", "ü", "a$");

  private static final List<String> ALL_TOPICS = allTopics();

  @Provide
  Arbitrary<String> topics() {
    return Arbitraries.of(TOKENS).list().ofMinSize(1).ofMaxSize(5).map(t -> String.join(".", t));
  }

  @Provide
  Arbitrary<String> filters() {
    Arbitrary<String> token = Arbitraries.oneOf(Arbitraries.just("*"), Arbitraries.of(TOKENS));
    return token
        .list()
        .ofMaxSize(4)
        .flatMap(
            tokens ->
                (tokens.isEmpty() ? Arbitraries.just(true) : Arbitraries.of(true, false))
                    .map(tail -> String.join(".", tokens) + tail(tokens, tail)));
  }

  private static String tail(List<String> tokens, boolean tail) {
    return !tail ? "" : tokens.isEmpty() ? ">" : ".>";
  }

  /** Returns filters of at most three tokens before a tail. */
  @Provide
  Arbitrary<TopicFilter> shortFilters() {
    return Arbitraries.of("a", "b", "$s", "*")
        .list()
        .ofMaxSize(3)
        .flatMap(
            tokens ->
                (tokens.isEmpty() ? Arbitraries.just(true) : Arbitraries.of(true, false))
                    .map(tail -> String.join(".", tokens) + tail(tokens, tail)))
        .map(TopicFilter::parse);
  }

  /**
   * Returns all topics of up to four tokens: one more than filters have before a tail. Some of
   * their tokens are in no filter, so that only a wildcard selects them.
   */
  private static List<String> allTopics() {
    List<String> all = new ArrayList<>();
    List<String> longest = List.of("");
    for (int tokens = 1; tokens <= 4; tokens++) {
      List<String> longer = new ArrayList<>();
      for (String topic : longest) {
        for (String token : List.of("a", "b", "$s", "x", "$x")) {
          longer.add(topic.isEmpty() ? token : topic + "." + token);
        }
      }
      all.addAll(longer);
      longest = longer;
    }
    return all;
  }

  @Property(tries = 3000)
  void containsAndIntersectsAreWhatTheirTopicsSay(
      @ForAll("shortFilters") TopicFilter one, @ForAll("shortFilters") TopicFilter other) {
    boolean contains = true;
    boolean intersects = false;
    for (String topic : ALL_TOPICS) {
      if (other.matches(topic)) {
        contains &= one.matches(topic);
        intersects |= one.matches(topic);
      }
    }
    assertThat(one.contains(other)).as("%s contains %s", one, other).isEqualTo(contains);
    assertThat(one.intersects(other)).as("%s intersects %s", one, other).isEqualTo(intersects);
  }

  @Property(tries = 5000)
  void matchesLikeARegularExpression(
      @ForAll("filters") String filter, @ForAll("topics") String topic) {
    assertThat(TopicFilter.problem(filter)).isNull();
    assertThat(TopicFilter.parse(filter).matches(topic)).isEqualTo(model(filter, topic));
  }

  @Property
  void aTopicSelectsItself(@ForAll("topics") String topic) {
    assertThat(TopicFilter.parse(topic).matches(topic)).isTrue();
    assertThat(TopicFilter.parse(topic).isExact()).isTrue();
  }

  @Property
  void anyTextIsLegalOrHasAReason(@ForAll String text) {
    String topicProblem = Topic.problem(text);
    String filterProblem = TopicFilter.problem(text);
    if (topicProblem == null) {
      assertThat(filterProblem).as("each topic is a filter").isNull();
    }
    if (filterProblem == null) {
      assertThat(TopicFilter.parse(text)).hasToString(text);
    }
  }

  private static boolean model(String filter, String topic) {
    boolean firstIsWild = filter.startsWith("*") || filter.startsWith(">");
    if (firstIsWild && topic.startsWith("$")) {
      return false;
    }
    StringBuilder regex = new StringBuilder();
    for (String token : filter.split("\\.", -1)) {
      if (!regex.isEmpty()) {
        regex.append("\\.");
      }
      switch (token) {
        case "*" -> regex.append("[^.]+");
        case ">" -> regex.append(".+");
        default -> regex.append(Pattern.quote(token));
      }
    }
    return Pattern.matches(regex.toString(), topic);
  }
}
