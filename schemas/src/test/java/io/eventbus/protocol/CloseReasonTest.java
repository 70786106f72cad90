package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class CloseReasonTest {
  @ParameterizedTest
  @EnumSource(CloseReason.class)
  void isFoundByItsCodeAndKeepsToItsRange(CloseReason reason) {
    assertThat(CloseReason.of(reason.code())).isSameAs(reason);
    assertThat(CloseReason.mayReconnect(reason.code())).isEqualTo(reason.reconnect());
    if (reason.code() >= 4000) {
      assertThat(reason.reconnect()).isEqualTo(reason.code() < 4500);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1000, false",
    "1001, true",
    "1002, false",
    "1003, false",
    "1006, true",
    "1007, false",
    "1009, false",
    "1011, true",
    "1012, true",
    "4004, true",
    "4499, true",
    "4504, false",
    "4999, false"
  })
  void saysWhetherToReconnect(int code, boolean reconnect) {
    assertThat(CloseReason.mayReconnect(code)).isEqualTo(reconnect);
  }

  @Test
  void unknownCodesHaveNoReason() {
    assertThat(CloseReason.of(4499)).isNull();
    assertThat(CloseReason.of(0)).isNull();
  }

  @ParameterizedTest
  @CsvSource({"a, 123", "ä, 122", "€, 123", "😀, 120"})
  void cutsOnACharacterBoundary(String character, int expectedBytes) {
    String cut = CloseReason.fit(character.repeat(200));
    assertThat(cut.getBytes(StandardCharsets.UTF_8)).hasSize(expectedBytes);
    assertThat(cut).isEqualTo(character.repeat(cut.length() / character.length()));
  }

  @Test
  void leavesWhatFits() {
    String longest = "x".repeat(CloseReason.MAX_REASON_BYTES);
    assertThat(CloseReason.fit(longest)).isSameAs(longest);
    assertThat(CloseReason.fit("")).isEmpty();
  }
}
