package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Filters against a regular expression that says the same. */
class TopicFilterProperties {
  // Few tokens, some of them prefixes of others, so that topics and filters often meet.
  private static final List<String> TOKENS = List.of("a", "ab", "b", "$s", "ü", "a$");

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
