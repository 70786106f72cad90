package io.eventbus.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.testing.GeneratedPart;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The reference of keys in docs/configuration.md is generated from the keys. */
class ConfigDocumentTest {
  @Test
  void thePageHasEveryKeyAsItIsInTheCode() throws Exception {
    String sections =
        Arrays.stream(ConfigSection.values())
            .map(ConfigDocumentTest::section)
            .collect(Collectors.joining("\n"));
    GeneratedPart.check("configuration.md", "configuration keys", "\n" + sections + "\n");
  }

  @Test
  void everyKeyIsInOneSection() {
    List<ConfigKey> keys =
        Arrays.stream(ConfigSection.values()).flatMap(section -> section.keys().stream()).toList();
    assertThat(keys).containsExactlyInAnyOrder(ConfigKey.values());
  }

  @ParameterizedTest
  @EnumSource
  void textsAreShort(ConfigKey key) {
    assertThat(key.reason()).hasSizeLessThanOrEqualTo(GeneratedPart.MAX_TEXT);
  }

  private static String section(ConfigSection section) {
    String keys =
        section.keys().stream().map(ConfigDocumentTest::entry).collect(Collectors.joining());
    return "### " + section.title() + "\n\n" + GeneratedPart.paragraph(section.summary()) + keys;
  }

  private static String entry(ConfigKey key) {
    String flag = key.flag().isEmpty() ? "" : " (`" + key.flag() + "`)";
    String value = key.defaultText().isEmpty() ? "none" : "`" + key.defaultText() + "`";
    String head = "**`" + key.key() + "`**" + flag + " · default " + value + " · " + key.range();
    return GeneratedPart.entry(head, key.reason());
  }
}
