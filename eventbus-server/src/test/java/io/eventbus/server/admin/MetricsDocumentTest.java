package io.eventbus.server.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.testing.GeneratedPart;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The list of metrics in docs/monitoring.md is generated from the metrics. */
class MetricsDocumentTest {
  /** Part of the list: the metrics whose names, without {@code eventbus_}, match. */
  private record Group(String title, String names) {
    List<BusMetric> metrics() {
      return BusMetric.ALL.stream().filter(m -> m.name().matches("eventbus_" + names)).toList();
    }
  }

  private static final List<Group> GROUPS =
      List.of(
          new Group("Connections", "(connections|refused_connections|tls_failures|stale_s).*"),
          new Group("Login and audit", "(authentication|resumes|tls_certificate|jwks|audit).*"),
          new Group(
              "Events",
              "(received|sent|deliveries|acknowledgements|publisher|dropped|gaps|problems|latency"
                  + "|topics|subscription|accounts|queue|sys).*"),
          new Group("Quotas", "quota_.*"),
          new Group("Memory and load", "(memory|route|event_loop|load|overloaded).*"),
          new Group("Durable topics", "(journal|shard).*"),
          new Group("Services", "(call|calls|tunnel|tunnels|service|services)(_.*)?"),
          new Group("Cluster", "(registry|refused_links).*"),
          new Group("Moving clients", "(draining|moving|moves|reservations).*"),
          new Group("Links between buses", "federation_.*"));

  @Test
  void thePageHasEveryMetricAsItIsInTheCode() throws Exception {
    String groups =
        GROUPS.stream()
            .map(
                group ->
                    GeneratedPart.paragraph("**" + group.title() + "**")
                        + group.metrics().stream()
                            .map(MetricsDocumentTest::entry)
                            .collect(Collectors.joining()))
            .collect(Collectors.joining("\n"));
    GeneratedPart.check("monitoring.md", "metrics", "\n" + groups + "\n");
  }

  @Test
  void everyMetricIsInOneGroup() {
    assertThat(GROUPS.stream().flatMap(group -> group.metrics().stream()))
        .containsExactlyInAnyOrderElementsOf(BusMetric.ALL);
  }

  @ParameterizedTest
  @MethodSource("metrics")
  void helpIsShort(BusMetric metric) {
    assertThat(metric.help()).hasSizeLessThanOrEqualTo(GeneratedPart.MAX_TEXT).endsWith(".");
  }

  static List<BusMetric> metrics() {
    return BusMetric.ALL;
  }

  private static String entry(BusMetric metric) {
    String label = metric.label().isEmpty() ? "" : " · label `" + metric.label() + "`";
    return GeneratedPart.entry("`" + metric.name() + "` · " + metric.type() + label, metric.help());
  }
}
