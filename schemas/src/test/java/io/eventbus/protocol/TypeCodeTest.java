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
    String[] calls = {
      "REGISTER", "UNREGISTER", "REQUEST", "INVOKE", "REPLY", "FAILURE", "CANCEL", "DATA"
    };
    for (int i = 0; i < calls.length; i++) {
      assertThat(TypeCode.of(20 + i)).isEqualTo(TypeCode.valueOf(calls[i]));
      assertThat(TypeCode.valueOf(calls[i]).code()).isEqualTo(20 + i);
    }
    assertThat(TypeCode.of(31)).isEqualTo(TypeCode.CAPACITY);
    assertThat(TypeCode.CAPACITY.code()).isEqualTo(31);
    assertThat(TypeCode.of(28)).isEqualTo(TypeCode.CREDIT);
    assertThat(TypeCode.CREDIT.code()).isEqualTo(28);
    assertThat(TypeCode.of(32)).isEqualTo(TypeCode.AUTHENTICATE);
    assertThat(TypeCode.AUTHENTICATE.code()).isEqualTo(32);
    assertThat(TypeCode.of(33)).isEqualTo(TypeCode.ECHO);
    assertThat(TypeCode.ECHO.code()).isEqualTo(33);
    String[] durable = {"CONSUME", "FEED", "SETTLE"};
    for (int i = 0; i < durable.length; i++) {
      assertThat(TypeCode.of(16 + i)).isEqualTo(TypeCode.valueOf(durable[i]));
      assertThat(TypeCode.valueOf(durable[i]).code()).isEqualTo(16 + i);
    }
    assertThat(TypeCode.of(34)).isEqualTo(TypeCode.ASK);
    assertThat(TypeCode.ASK.code()).isEqualTo(34);
    assertThat(TypeCode.of(35)).isEqualTo(TypeCode.TOLD);
    assertThat(TypeCode.TOLD.code()).isEqualTo(35);
    assertThat(TypeCode.of(37)).isEqualTo(TypeCode.TRUNCATED);
    assertThat(TypeCode.TRUNCATED.code()).isEqualTo(37);
    assertThat(TypeCode.values()).hasSize(names.length + calls.length + durable.length + 7);
    assertThat(TypeCode.knownCodes()).isEqualTo("0..13, 16..18, 20..28, 31..35, 37");
  }

  @Test
  void unknownCodesHaveNoType() {
    assertThat(TypeCode.of(-1)).isNull();
    assertThat(TypeCode.of(14)).isNull();
    assertThat(TypeCode.of(29)).isNull();
    assertThat(TypeCode.of(30)).isNull();
    assertThat(TypeCode.of(19)).isNull();
    assertThat(TypeCode.of(36)).isNull();
    assertThat(TypeCode.of(38)).isNull();
    assertThat(TypeCode.of(Integer.MAX_VALUE)).isNull();
    assertThat(TypeCode.of(Integer.MIN_VALUE)).isNull();
  }
}
