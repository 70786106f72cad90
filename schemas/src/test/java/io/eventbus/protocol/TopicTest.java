package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopicTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "a",
        "flights.EDDF.landed",
        "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p",
        "preis.€.grüße",
        "a.😀",
        "a.$b",
        "-._./"
      })
  void legal(String topic) {
    assertThat(Topic.problem(topic)).isNull();
    assertThatCode(() -> Topic.check(topic)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''|topic is empty (expected: tokens separated by dots)",
        ".|topic '.' has an empty token, number 1 (expected: none)",
        ".a|topic '.a' has an empty token, number 1 (expected: none)",
        "a.|topic 'a.' has an empty token, number 2 (expected: none)",
        "a..b|topic 'a..b' has an empty token, number 2 (expected: none)",
        "a b|topic 'a b' holds the character U+0020 at 1 (expected: no white space and no control"
            + " characters)",
        "a.*|topic 'a.*' holds a wildcard (expected: a topic without * and >)",
        "a*b|topic 'a*b' holds a wildcard (expected: a topic without * and >)",
        ">|topic '>' holds a wildcard (expected: a topic without * and >)",
        "$SYS.x|topic '$SYS.x' is the system's (expected: a topic that does not start with $)",
        "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q|topic 'a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q' has 17 tokens"
            + " (expected: at most 16)"
      })
  void illegal(String topic, String problem) {
    assertThat(Topic.problem(topic)).isEqualTo(problem);
    assertThatThrownBy(() -> Topic.check(topic))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(problem);
  }

  @ParameterizedTest
  // Controls of both ranges, DEL, spaces of every kind, separators, and half a surrogate pair.
  @ValueSource(
      ints = {
        0, 9, 10, 0x1B, 0x1F, 0x7F, 0x85, 0x9F, 0xA0, 0x1680, 0x2003, 0x2028, 0x2029, 0x202F,
        0x205F, 0x3000, 0xD800, 0xDFFF
      })
  void forbiddenCharacters(int c) {
    assertThat(Topic.problem("a." + Character.toString(c) + "b"))
        .contains("holds the character U+" + String.format("%04X", c) + " at 2");
  }

  @Test
  void lengthCountsInBytesOfUtf8() {
    assertThat(Topic.problem("a".repeat(255))).isNull();
    assertThat(Topic.problem("a".repeat(256))).contains("more than 255 bytes");
    assertThat(Topic.problem("ä".repeat(127) + "a")).isNull();
    assertThat(Topic.problem("ä".repeat(128))).contains("more than 255 bytes");
    assertThat(Topic.problem("😀".repeat(63) + "abc")).isNull();
    assertThat(Topic.problem("😀".repeat(64))).contains("more than 255 bytes");
  }

  @Test
  void hostileTextIsShownShortAndHarmless() {
    assertThat(Topic.problem("\u001B[2J\r\n'" + "x".repeat(1_000_000)))
        .startsWith("topic '\\u001B[2J\\u000D\\u000A\\u0027xx")
        .hasSizeLessThan(200);
  }
}
