package io.eventbus.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Cost of a decision on a topic that is not remembered, in a list of filters and in a tree. The
 * build does not run it: {@code mvn -q -pl eventbus-server -am test -Dtest=FilterTreeBenchmark
 * -Dsurefire.failIfNoSpecifiedTests=false}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 4, time = 1)
@Fork(1)
public class FilterTreeBenchmark {
  /** Number of filters; a fifth of them with a wildcard within. */
  @Param({"3", "10", "30", "100", "1000"})
  public int filters;

  private TopicFilter[] list = {};
  private FilterTree tree = new FilterTree(List.of());
  private final String[] topics = new String[64];
  private int next;

  /** Fills topics of which half match. */
  @Setup
  public void fill() {
    List<TopicFilter> all = new ArrayList<>();
    for (int i = 0; i < filters; i++) {
      all.add(TopicFilter.parse(i % 5 == 0 ? "area.*.part" + i + ".>" : "area.plant" + i + ".>"));
    }
    list = all.toArray(TopicFilter[]::new);
    tree = new FilterTree(all);
    for (int i = 0; i < topics.length; i++) {
      int which = i * 7 % filters;
      topics[i] = "area.plant" + (i % 2 == 0 ? which : -1) + ".x" + i + ".temperature";
    }
  }

  private String topic() {
    return topics[next++ & (topics.length - 1)];
  }

  @Benchmark
  public boolean list() {
    String topic = topic();
    for (TopicFilter filter : list) {
      if (filter.matches(topic)) {
        return true;
      }
    }
    return false;
  }

  @Benchmark
  public boolean tree() {
    return tree.matches(topic());
  }

  @Test
  void measure() throws RunnerException {
    assertThat(
            new Runner(new OptionsBuilder().include(FilterTreeBenchmark.class.getName()).build())
                .run())
        .isNotEmpty();
  }
}
