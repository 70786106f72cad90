package io.eventbus.server.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ForwardedClientTest {
  private final ForwardedClient headers =
      new ForwardedClient(ProxyNetworks.of(List.of("10.0.0.0/8", "2001:db8:a::/48")));

  private static @Nullable String text(java.util.Optional<InetSocketAddress> found) {
    return found.map(a -> ConnectionUsage.unlimited(a, null).toString()).orElse(null);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "203.0.113.7 | 203.0.113.7",
        "203.0.113.7:4711 | 203.0.113.7:4711",
        "2001:db8::1 | 2001:db8::1",
        "[2001:db8::1] | 2001:db8::1",
        "[2001:db8::1]:80 | [2001:db8::1]:80",
        "198.51.100.9, 203.0.113.7 | 203.0.113.7",
        "203.0.113.7, 10.1.1.1, 10.2.2.2 | 203.0.113.7",
        "198.51.100.9, 203.0.113.7, 10.1.1.1 | 203.0.113.7",
        "10.3.3.3, 10.1.1.1 | 10.3.3.3",
        "unknown, 10.1.1.1 | 10.1.1.1",
        "'' | ",
        "203.0.113.7, | ",
        "\", 203.0.113.7 | 203.0.113.7",
        "\"a, b\", 203.0.113.7 | 203.0.113.7",
        "::ffff:203.0.113.7 | 203.0.113.7"
      })
  void theLastThatIsNoProxyIsTheClient(String value, @Nullable String client) throws Exception {
    assertThat(text(headers.find(List.of(), List.of(value)))).isEqualTo(client);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\'',
      value = {
        "for=203.0.113.7 | 203.0.113.7",
        "For=\"[2001:db8::1]:4711\" | [2001:db8::1]:4711",
        "for=198.51.100.9;proto=http, for=203.0.113.7;by=10.0.0.1 | 203.0.113.7",
        "proto=http;for=203.0.113.7, for=10.1.1.1 | 203.0.113.7",
        "for=\"203.0.113.7:_port\" | 203.0.113.7",
        "for=203.0.113.7, proto=http | ",
        "for=\", for=203.0.113.7 | 203.0.113.7",
        "for=\"a, for=\"[2001:db8::1]\" | 2001:db8::1",
        "for=\"a\\\", for=203.0.113.7 | 203.0.113.7"
      })
  void sameInTheStandardsHeader(String value, @Nullable String client) throws Exception {
    assertThat(text(headers.find(List.of(value), List.of()))).isEqualTo(client);
  }

  /** The proxy next to the bus counts for itself only if it names no client. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\'',
      value = {
        "X | unknown",
        "X | 203.0.113.7, _hidden",
        "X | localhost",
        "X | 1.2.3.4.5",
        "X | 203.0.113.7\"",
        "F | for=_hidden",
        "F | for=198.51.100.9, for=\"a,for=b\"",
        "F | for=\""
      })
  void textsThatAreNoAddressesAreRefused(String header, String value) {
    List<String> given = List.of(value);
    assertThatThrownBy(
            () ->
                headers.find(
                    header.equals("F") ? given : List.of(), header.equals("X") ? given : List.of()))
        .isInstanceOf(ForwardedClient.UnusableException.class)
        .hasMessageContaining("is no address");
  }

  @Test
  void severalLinesAreOneList() throws Exception {
    assertThat(text(headers.find(List.of(), List.of("198.51.100.9, 203.0.113.7", "10.1.1.1"))))
        .isEqualTo("203.0.113.7");
  }

  @Test
  void twoHeadersMustAgree() throws Exception {
    assertThat(text(headers.find(List.of("for=203.0.113.7"), List.of("203.0.113.7"))))
        .isEqualTo("203.0.113.7");
    assertThatThrownBy(() -> headers.find(List.of("for=198.51.100.9"), List.of("203.0.113.7")))
        .isInstanceOf(ForwardedClient.UnusableException.class)
        .hasMessageContaining("X-Forwarded-For");
  }
}
