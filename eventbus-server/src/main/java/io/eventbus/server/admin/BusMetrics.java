package io.eventbus.server.admin;

import io.eventbus.server.view.BusHealth;
import io.eventbus.server.view.BusStats;
import io.eventbus.server.view.BusView;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Page of metrics: the bus's own figures, all from one {@link BusStats}, and the JVM's from
 * Micrometer. Safe for use by several threads.
 */
final class BusMetrics implements AutoCloseable {
  /** Text format that every Prometheus server reads. */
  static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private static final double MILLIS = 1e3;

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final JvmGcMetrics garbageCollection = new JvmGcMetrics();
  private final BusView bus;
  private final LongSupplier failedHere;

  /** Creates the page. */
  BusMetrics(BusView bus, LongSupplier failedHere) {
    this.bus = bus;
    this.failedHere = failedHere;
    // Names that Prometheus's rules for names refuse.
    registry
        .config()
        .meterFilter(MeterFilter.denyNameStartsWith("process.cpu.time"))
        .meterFilter(
            new MeterFilter() {
              @Override
              public Meter.Id map(Meter.Id id) {
                return id.getName().equals("system.cpu.count") ? id.withName("system.cpus") : id;
              }
            });
    cpuSeconds();
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ClassLoaderMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    new FileDescriptorMetrics().bindTo(registry);
    new UptimeMetrics().bindTo(registry);
    garbageCollection.bindTo(registry);
    registry.getPrometheusRegistry().register((MultiCollector) this::collect);
  }

  private void cpuSeconds() {
    FunctionCounter.builder("process.cpu", ProcessHandle.current(), BusMetrics::cpuSeconds)
        .baseUnit("seconds")
        .description("Processor time that the process has used.")
        .register(registry);
  }

  private static double cpuSeconds(ProcessHandle process) {
    return process.info().totalCpuDuration().orElse(Duration.ZERO).toMillis() / MILLIS;
  }

  String scrape() {
    return registry.scrape(CONTENT_TYPE);
  }

  private MetricSnapshots collect() {
    BusStats stats = bus.stats();
    List<MetricSnapshot> all = new ArrayList<>();
    BusMetric.ALL.forEach(metric -> all.add(metric.reader().apply(stats)));
    all.add(
        GaugeSnapshot.builder()
            .name("eventbus_ready")
            .help("1 when the bus serves clients, else 0.")
            .dataPoint(
                GaugeDataPointSnapshot.builder()
                    .value(bus.health().state() == BusHealth.State.UP ? 1 : 0)
                    .build())
            .build());
    all.add(
        CounterSnapshot.builder()
            .name("eventbus_admin_tls_failures")
            .help("TLS handshakes at the administration port that failed.")
            .dataPoint(
                CounterDataPointSnapshot.builder().value((double) failedHere.getAsLong()).build())
            .build());
    all.add(
        InfoSnapshot.builder()
            .name("eventbus_build")
            .help("Always 1; the labels say what runs.")
            .dataPoint(
                InfoDataPointSnapshot.builder()
                    .labels(
                        Labels.of(
                            "version",
                            bus.summary().version(),
                            "java",
                            Runtime.version().toString()))
                    .build())
            .build());
    return new MetricSnapshots(all);
  }

  @Override
  public void close() {
    garbageCollection.close();
    registry.close();
  }
}
