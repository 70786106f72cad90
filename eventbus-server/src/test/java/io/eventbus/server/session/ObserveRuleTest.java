package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.config.ClientScope;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ObserveRuleTest {
  @ParameterizedTest
  @CsvSource({
    "EVERYONE, true, true",
    "EVERYONE, false, true",
    "LOOPBACK, true, true",
    "LOOPBACK, false, false",
    "NOBODY, true, false",
    "NOBODY, false, false"
  })
  void whoMaySubscribeToTopicsOfTheSystem(ClientScope observers, boolean isLocal, boolean may) {
    ObserveRule rule = new ObserveRule(observers);
    for (String filter : new String[] {"$SYS.>", "$SYS.bus.*.stats", "$other"}) {
      assertThat(rule.refuse(TopicFilter.parse(filter), isLocal) == null).isEqualTo(may);
    }
    for (String filter : new String[] {">", "*.bus", "a.$SYS"}) {
      assertThat(rule.refuse(TopicFilter.parse(filter), isLocal)).isNull();
    }
  }

  @Test
  void aRefusalNamesFilterAndKey() {
    assertThat(new ObserveRule(ClientScope.LOOPBACK).refuse(TopicFilter.parse("$SYS.>"), false))
        .contains("'$SYS.>'")
        .contains("auth.observe=loopback");
  }
}
