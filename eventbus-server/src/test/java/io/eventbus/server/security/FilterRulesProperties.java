package io.eventbus.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.samples.SampleRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Rules, and remembered decisions, against each topic by itself. */
class FilterRulesProperties {
  private static final List<String> TOKENS = List.of("a", "b", "x");
  private static final List<String> TOPICS = topics();

  private static List<String> topics() {
    List<String> all = new ArrayList<>();
    for (String first : TOKENS) {
      all.add(first);
      for (String second : TOKENS) {
        all.add(first + "." + second);
        for (String third : TOKENS) {
          all.add(first + "." + second + "." + third);
        }
      }
    }
    return all;
  }

  /** Generates one or two tokens, and a tail or none. */
  @Provide
  Arbitrary<TopicFilter> filters() {
    return Arbitraries.of("a", "b", "*", ">", "a.b", "a.*", "*.b", "a.>", "*.>", "a.b.>", "*.*")
        .map(TopicFilter::parse);
  }

  @Property(tries = 2000)
  void aFilterThatIsAllowedSelectsOnlyTopicsThatAreAllowed(
      @ForAll @Size(max = 3) List<@From("filters") TopicFilter> allow,
      @ForAll @Size(max = 2) List<@From("filters") TopicFilter> deny,
      @ForAll("filters") TopicFilter filter) {
    FilterRules rules = SampleRules.of(allow, deny, "test");
    for (String topic : TOPICS) {
      boolean model =
          allow.stream().anyMatch(f -> f.matches(topic))
              && deny.stream().noneMatch(f -> f.matches(topic));
      assertThat(rules.allows(topic)).as(topic).isEqualTo(model);
      if (filter.matches(topic) && !model) {
        assertThat(rules.allows(filter)).as("%s selects %s", filter, topic).isFalse();
      }
    }
    boolean isContained = allow.stream().anyMatch(f -> f.contains(filter));
    boolean meets = deny.stream().anyMatch(f -> f.intersects(filter));
    assertThat(rules.allows(filter)).isEqualTo(isContained && !meets);
  }

  @Property
  void aRememberedDecisionIsThatOfTheRules(
      @ForAll @Size(max = 3) List<@From("filters") TopicFilter> allow,
      @ForAll @Size(max = 200) List<@IntRange(max = 38) Integer> published) {
    FilterRules rules = SampleRules.of(allow, List.of(), "test");
    PublishDecisions decisions = new PublishDecisions(rules);
    assertThat(TOPICS).as("more than there are places").hasSize(39);
    for (int i : published) {
      assertThat(decisions.allow(i + 1, TOPICS.get(i))).isEqualTo(rules.allows(TOPICS.get(i)));
    }
  }

  @Example
  void onlyWhatHadToBeAskedCosts() {
    PublishDecisions decisions =
        new PublishDecisions(SampleRules.of(List.of(TopicFilter.parse("a")), List.of(), "test"));
    assertThat(decisions.allow(1, "a")).isTrue();
    assertThat(decisions.takeWork()).isPositive();
    assertThat(decisions.takeWork()).isZero();
    assertThat(decisions.allow(1, "a")).isTrue();
    assertThat(decisions.takeWork()).isZero();
    assertThat(decisions.allow(2, "b")).isFalse();
    assertThat(decisions.allow(3, "c")).isFalse();
    assertThat(decisions.takeWork()).isEqualTo(2);
  }

  @Example
  void actionsWithoutARuleAreDenied() {
    Permissions some = new Permissions(Map.of(Action.SUBSCRIBE, FilterRules.everything("test")));
    assertThat(some.of(Action.SUBSCRIBE).allows("$SYS.bus")).isTrue();
    assertThat(some.of(Action.SUBSCRIBE).allows(TopicFilter.parse("$SYS.>"))).isTrue();
    assertThat(some.of(Action.SUBSCRIBE).allowEverything()).isTrue();
    assertThat(some.of(Action.PUBLISH).allows("a")).isFalse();
    for (Action action : Action.values()) {
      FilterRules none = Permissions.NONE.of(action);
      assertThat(none.allowEverything()).isFalse();
      assertThat(none.allows("a")).isFalse();
      assertThat(none.allows(TopicFilter.parse("a"))).isFalse();
    }
  }
}
