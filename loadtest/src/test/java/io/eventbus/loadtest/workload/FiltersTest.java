package io.eventbus.loadtest.workload;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FiltersTest {
  @ParameterizedTest
  @CsvSource({
    "load.1, load.1, true",
    "load.1, load.10, false",
    "load.*, load.7, true",
    "load.*, load, false",
    "load.>, load.7, true",
    "load.>, load, false",
    "*.3, load.3, true",
    ">, load.3, true",
    "load, load.3, false",
    "load.*.x, load.3, false",
  })
  void matches(String filter, String topic, boolean expected) {
    assertThat(Filters.matches(filter, topic)).isEqualTo(expected);
  }

  @Test
  void exactFiltersAndWildcardsAgreeOnTheTopics() {
    String yaml = "name: w\ntopics: 12\nsubscribers: 12\nfilters: ";
    for (Workload w : WorkloadFile.parse("w", yaml + "['load.{subscriber}']")) {
      for (int s = 0; s < 12; s++) {
        assertThat(w.topicsOf(s).stream().boxed()).containsExactly(s);
      }
    }
    for (Workload w : WorkloadFile.parse("w", yaml + "['load.11', 'load.*', load.012, load.99]")) {
      assertThat(w.topicsOf(0).stream().boxed()).containsExactly(11);
      assertThat(w.topicsOf(1).cardinality()).isEqualTo(12);
      assertThat(w.topicsOf(2).cardinality()).isZero();
      assertThat(w.topicsOf(3).cardinality()).isZero();
    }
  }
}
