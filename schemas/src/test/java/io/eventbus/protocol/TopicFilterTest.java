package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopicFilterTest {
  @ParameterizedTest
  @CsvSource({
    "a, a, true",
    "a, b, false",
    "a, a.b, false",
    "a.b, a, false",
    "*, a, true",
    "*, a.b, false",
    ">, a, true",
    ">, a.b.c, true",
    "a.>, a, false",
    "a.>, a.b, true",
    "a.>, a.b.c, true",
    "a.>, ab.c, false",
    "a.*, a.b, true",
    "a.*, a, false",
    "a.*, a.b.c, false",
    "a.*.c, a.b.c, true",
    "a.*.c, a.b.d, false",
    "*.b, a.b, true",
    "*.b, a.bb, false",
    "*.bb, a.b, false",
    "*.*, a, false",
    "*.>, a, false",
    "*.>, a.b, true",
    "a.*.>, a.b, false",
    "a.*.>, a.b.c.d, true",
    // System topics are seen only by subscribers that name them.
    ">, $SYS.bus, false",
    "*, $SYS, false",
    "*.bus, $SYS.bus, false",
    "*.>, $SYS.bus, false",
    "$SYS.>, $SYS.bus, true",
    "$SYS.*, $SYS.bus, true",
    "$SYS.bus, $SYS.bus, true",
    "a.*, a.$b, true",
    "a.>, a.$b, true"
  })
  void matches(String filter, String topic, boolean expected) {
    assertThat(TopicFilter.parse(filter).matches(topic)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    // one filter, the other, whether one contains the other, whether they intersect
    "a, a, true, true",
    "a, b, false, false",
    ">, a.b, true, true",
    ">, *.>, true, true",
    "*.>, >, false, true",
    "*, >, false, true",
    "a.>, a, false, false",
    "a.>, a.*, true, true",
    "a.>, a.*.>, true, true",
    "a.*.>, a.>, false, true",
    "a.*, a.>, false, true",
    "a.*.c, a.b.*, false, true",
    "a.*, *.b, false, true",
    "a.*, b.*, false, false",
    "a.*.>, a.*, false, false",
    // System topics are seen only by subscribers that name them.
    ">, $SYS.>, false, false",
    ">, $SYS.bus, false, false",
    "*.bus, $SYS.*, false, false",
    "$SYS.>, $SYS.*, true, true",
    "$SYS.*, >, false, false"
  })
  void containsAndIntersects(String one, String other, boolean contains, boolean intersects) {
    TopicFilter first = TopicFilter.parse(one);
    TopicFilter second = TopicFilter.parse(other);
    assertThat(first.contains(second)).isEqualTo(contains);
    assertThat(first.intersects(second)).isEqualTo(intersects);
    assertThat(second.intersects(first)).isEqualTo(intersects);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''|filter is empty (expected: tokens separated by dots)",
        "a..>|filter 'a..>' has an empty token, number 2 (expected: none)",
        ">.a|filter '>.a' has > as token 1 (expected: only as the last)",
        ">.>|filter '>.>' has > as token 1 (expected: only as the last)",
        "a.b*|filter 'a.b*' mixes a wildcard into token 2 (expected: * or > alone)",
        "a.**|filter 'a.**' mixes a wildcard into token 2 (expected: * or > alone)",
        "a>|filter 'a>' mixes a wildcard into token 1 (expected: * or > alone)",
        "a. b|filter 'a. b' holds the character U+0020 at 2 (expected: no white space and no"
            + " control characters)"
      })
  void illegal(String filter, String problem) {
    assertThat(TopicFilter.problem(filter)).isEqualTo(problem);
    assertThatThrownBy(() -> TopicFilter.parse(filter))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(problem);
  }

  @Test
  void tellsItsParts() {
    TopicFilter filter = TopicFilter.parse("a.*.>");
    assertThat(filter.tokens()).containsExactly("a", "*");
    assertThat(filter.hasTail()).isTrue();
    assertThat(filter.isExact()).isFalse();
    assertThat(filter.isSystem()).isFalse();
    assertThat(TopicFilter.parse(">").tokens()).isEmpty();
    assertThat(TopicFilter.parse("a.b").isExact()).isTrue();
    assertThat(TopicFilter.parse("a.b").hasTail()).isFalse();
    assertThat(TopicFilter.parse("$SYS.>").isSystem()).isTrue();
    assertThat(filter).hasToString("a.*.>").isEqualTo(TopicFilter.parse("a.*.>"));
    assertThat(filter).hasSameHashCodeAs(TopicFilter.parse("a.*.>"));
    assertThat(filter).isNotEqualTo(TopicFilter.parse("a.>"));
  }
}
