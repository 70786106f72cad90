package io.eventbus.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigKeyTest {
  /** Keys whose values are longs in the records; all others have to fit an int. */
  private static final Set<ConfigKey> LONGS =
      Set.of(
          ConfigKey.LIMITS_SUBSCRIPTION_BYTES,
          ConfigKey.LIMITS_QUEUE_BYTES,
          ConfigKey.FEDERATION_QUEUE_BYTES,
          ConfigKey.SERVICES_QUEUE_BYTES,
          ConfigKey.LIMITS_MEMORY_BYTES,
          ConfigKey.QUOTAS_PUBLISH_BYTES,
          ConfigKey.QUOTAS_QUEUE_BYTES,
          ConfigKey.QUOTAS_ACCOUNT_PUBLISH_BYTES,
          ConfigKey.QUOTAS_ACCOUNT_QUEUE_BYTES,
          ConfigKey.QUOTAS_ACCOUNT_DURABLE_BYTES,
          ConfigKey.BALANCE_CAPACITY_BYTES,
          ConfigKey.AUDIT_MAX_BYTES);

  @ParameterizedTest
  @EnumSource
  void everyKeyIsWellFormed(ConfigKey key) {
    assertThat(key.key()).matches("[a-z]+(\\.[a-z]+){1,2}(-[a-z]+)*");
    assertThat(key.name()).isEqualTo(key.variable().substring("EVENTBUS_".length()));
    assertThat(ConfigKey.find(key.key())).contains(key);
    assertThat(key.reason()).endsWith(".");
    assertThat(key.flag()).matches("(--[a-z]+(-[a-z]+)*)?");
  }

  @ParameterizedTest
  @EnumSource
  void everyDefaultIsLegalAndPrintedAsWritten(ConfigKey key) {
    EffectiveConfig loaded = new ConfigLoader().set(key.key(), key.defaultText()).load();
    EffectiveConfig.Setting setting = loaded.setting(key);
    if (key != ConfigKey.BUS_NAME) {
      assertThat(setting.value()).isEqualTo(key.defaultText());
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyRangeHasItsEdges(ConfigKey key) {
    if (!key.type().numeric()) {
      assertThatThrownBy(() -> key.number("1")).isInstanceOf(IllegalStateException.class);
      return;
    }
    String[] edges = key.range().split(" to ", -1);
    long min = key.number(edges[0]);
    long max = key.number(edges[1]);
    if (!LONGS.contains(key) && key.type() != ValueType.TIME) {
      assertThat(max).isLessThanOrEqualTo(Integer.MAX_VALUE);
    }
    assertThatCode(() -> key.inRange(min)).doesNotThrowAnyException();
    assertThatCode(() -> key.inRange(max)).doesNotThrowAnyException();
    for (long outside : new long[] {min - 1, max + 1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      assertThatThrownBy(() -> key.inRange(outside))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith(key.key() + ": ")
          .hasMessageContaining("(expected: " + key.range() + ")");
    }
  }

  /** The range in the table must be the one that the loader and the records enforce. */
  @ParameterizedTest
  @EnumSource
  void everyNumberOutOfRangeIsRefusedByTheLoader(ConfigKey key) {
    if (key.type().numeric()) {
      String max = key.range().split(" to ", -1)[1];
      String above = max.replaceAll("\\d+", Long.toString(number(max) + 1));
      assertThatThrownBy(() -> ServerConfig.of(Map.of(key.key(), above)))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining(key.key() + ": ");
    }
  }

  @Test
  void keysAndFlagsAreUnique() {
    assertThat(Arrays.stream(ConfigKey.values()).map(ConfigKey::key)).doesNotHaveDuplicates();
    assertThat(Arrays.stream(ConfigKey.values()).map(ConfigKey::flag).filter(f -> !f.isEmpty()))
        .doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "17, 17",
    "17B, 17",
    "64KiB, 65536",
    "64 kib, 65536",
    "4MiB, 4194304",
    "1GiB, 1073741824"
  })
  void sizesHaveBinaryUnits(String text, long bytes) {
    assertThat(ValueType.SIZE.read(text)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-1",
        "1KB",
        "1.5MiB",
        "KiB",
        "0x10",
        "9223372036854775807KiB",
        "99999999999999999999"
      })
  void otherSizesAreRefused(String text) {
    assertThatThrownBy(() -> ConfigKey.LIMITS_MEMORY_BYTES.number(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("limits.memory-bytes: ");
  }

  @ParameterizedTest
  @CsvSource({
    "500ms, 500",
    "5s, 5000",
    "2m, 120000",
    "1h, 3600000",
    "1d, 86400000",
    "PT5S, 5000",
    "pt0.5s, 500",
    "0, 0"
  })
  void timesHaveUnits(String text, long millis) {
    assertThat(ValueType.TIME.read(text)).isEqualTo(millis);
  }

  @ParameterizedTest
  @CsvSource({"0, 0s", "500, 500ms", "5000, 5s", "60000, 1m", "61000, 61s", "3600000, 1h"})
  void timesAreWrittenAsTheyAreConfigured(long millis, String text) {
    assertThat(ValueType.time(Duration.ofMillis(millis))).isEqualTo(text);
    assertThat(ValueType.TIME.read(text)).isEqualTo(millis);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "5",
        "-5s",
        "5 seconds",
        "1.5s",
        "PT-5S",
        "9223372036854775807d",
        "P9999999999999Y"
      })
  void otherTimesAreRefused(String text) {
    assertThatThrownBy(() -> ConfigKey.TIMEOUTS_PONG.number(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("timeouts.pong: ");
  }

  @Test
  void hugeDurationsAreRefusedNotOverflown() {
    assertThatThrownBy(() -> ConfigKey.TIMEOUTS_PONG.inRange(Duration.ofSeconds(Long.MAX_VALUE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("timeouts.pong: ");
  }

  private static long number(String text) {
    return Long.parseLong(text.replaceAll("\\D", ""));
  }
}
