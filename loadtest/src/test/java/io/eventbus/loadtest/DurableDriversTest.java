package io.eventbus.loadtest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.workload.Workload;
import io.eventbus.loadtest.workload.Workloads;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurableDriversTest {
  @ParameterizedTest
  @CsvSource({
    "jetstream, durable-tail/1, ''",
    "jetstream-always, durable-replay/128B, measurement of replay",
    "kafka, durable-publish/4096-three, ''",
    "kafka, durable-replay/128B, ''",
    "kafka, durable-tail/1, measurement of tail",
    "kafka-flush, durable-replay/128B, measurement of replay",
    "rabbitmq, durable-publish/serial-three, ''",
    "rabbitmq, durable-replay/128B, measurement of replay",
    "rabbitmq, one-to-one/128B, events",
  })
  void whatIsNotMeasuredIsNamed(String name, String workload, String lack) {
    assertThat(driver(name).lacks(workload(workload))).isEqualTo(lack);
  }

  @ParameterizedTest
  @ValueSource(strings = {"jetstream", "kafka", "rabbitmq"})
  void nothingStartsWithoutADurableTopic(String name) {
    Driver driver = driver(name);
    assertThatThrownBy(() -> driver.start(workload("one-to-one/128B")))
        .isInstanceOf(DriverException.class)
        .hasMessage("durable: none (expected: a workload with a durable topic)");
  }

  private static Driver driver(String name) {
    return new Drivers().create(name, List.of());
  }

  private static Workload workload(String name) {
    return Workloads.shipped().all().stream()
        .filter(workload -> workload.name().equals(name))
        .findFirst()
        .orElseThrow();
  }
}
