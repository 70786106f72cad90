package io.eventbus.server.subscription;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Patterns of filters. */
class WildcardPatternTest {
  private static @Nullable WildcardPattern of(String filter) {
    return WildcardPattern.of(TopicFilter.parse(filter));
  }

  @ParameterizedTest
  @CsvSource({"a.*, b.*", "*.a.>, *.b.>", "a.>, b.>", "*, *", ">, >"})
  void namesDoNotMatter(String one, String other) {
    assertThat(of(one)).isNotNull().isEqualTo(of(other));
  }

  @Test
  void placesDo() {
    Set<WildcardPattern> all = new HashSet<>();
    int filters = 0;
    for (int tokens = 1; tokens <= 16; tokens++) {
      for (int stars = 0; stars < 1 << Math.min(tokens, 10); stars++) {
        for (boolean tail : tokens < 16 ? new boolean[] {true, false} : new boolean[] {false}) {
          StringBuilder filter = new StringBuilder();
          for (int i = 0; i < tokens; i++) {
            filter.append(i == 0 ? "" : ".").append((stars >> i & 1) == 1 ? "*" : "a");
          }
          WildcardPattern pattern = of(filter + (tail ? ".>" : ""));
          if (pattern == null) {
            assertThat(stars).isZero();
          } else {
            all.add(pattern);
            filters++;
          }
        }
      }
    }
    assertThat(all).hasSize(filters);
  }

  @Test
  void aPlainTopicHasNone() {
    assertThat(of("a.b.c")).isNull();
  }

  @Test
  void thereAreFewShortOnes() {
    Set<WildcardPattern> all = new HashSet<>();
    for (int stars = 0; stars < 1 << 5; stars++) {
      StringBuilder filter = new StringBuilder();
      for (int i = 0; i < 5; i++) {
        filter.append(i == 0 ? "" : ".").append((stars >> i & 1) == 1 ? "*" : "a");
        for (String tail : new String[] {"", ".>"}) {
          WildcardPattern pattern = of(filter + tail);
          if (pattern != null) {
            assertThat(pattern.isShort()).as("%s%s", filter, tail).isEqualTo(i < 4);
            all.add(pattern);
          }
        }
      }
    }
    WildcardPattern everything = of(">");
    assertThat(everything).isNotNull();
    all.add(everything);
    assertThat(all.stream().filter(WildcardPattern::isShort)).hasSize(57);
  }
}
