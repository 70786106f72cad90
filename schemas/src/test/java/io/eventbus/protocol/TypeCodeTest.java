package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TypeCodeTest {
  @Test
  void codesAreFixed() {
    // The numbers of the specification: they may never change.
    String[] names = {
      "HELLO",
      "PUBLISH",
      "SUBSCRIBE",
      "CHANGE_BUS",
      "DELIVER",
      "ACK",
      "UNSUBSCRIBE",
      "WELCOME",
      "PROBLEM",
      "CONFIRM",
      "GAP",
      "BARRIER",
      "DRAINED",
      "CHANGE_BUS_FAILED"
    };
    for (int code = 0; code < names.length; code++) {
      assertThat(TypeCode.of(code)).isEqualTo(TypeCode.valueOf(names[code]));
      assertThat(TypeCode.valueOf(names[code]).code()).isEqualTo(code);
    }
    assertThat(TypeCode.of(28)).isEqualTo(TypeCode.CREDIT);
    assertThat(TypeCode.CREDIT.code()).isEqualTo(28);
    assertThat(TypeCode.of(32)).isEqualTo(TypeCode.AUTHENTICATE);
    assertThat(TypeCode.AUTHENTICATE.code()).isEqualTo(32);
    assertThat(TypeCode.of(33)).isEqualTo(TypeCode.ECHO);
    assertThat(TypeCode.ECHO.code()).isEqualTo(33);
    assertThat(TypeCode.values()).hasSize(names.length + 3);
    assertThat(TypeCode.knownCodes()).isEqualTo("0..13, 28, 32..33");
  }

  @Test
  void unknownCodesHaveNoType() {
    assertThat(TypeCode.of(-1)).isNull();
    assertThat(TypeCode.of(14)).isNull();
    assertThat(TypeCode.of(27)).isNull();
    assertThat(TypeCode.of(29)).isNull();
    assertThat(TypeCode.of(31)).isNull();
    assertThat(TypeCode.of(34)).isNull();
    assertThat(TypeCode.of(Integer.MAX_VALUE)).isNull();
    assertThat(TypeCode.of(Integer.MIN_VALUE)).isNull();
  }
}
