package io.eventbus.server.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.server.config.ConfigException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProxyNetworksTest {
  @ParameterizedTest
  @CsvSource({
    "192.0.2.7, 192.0.2.7, true",
    "192.0.2.7, 192.0.2.8, false",
    "10.0.0.0/8, 10.255.1.2, true",
    "10.0.0.0/8, 11.0.0.0, false",
    "10.1.2.3/8, 10.9.9.9, true",
    "192.0.2.128/25, 192.0.2.129, true",
    "192.0.2.128/25, 192.0.2.127, false",
    "0.0.0.0/0, 203.0.113.7, true",
    "0.0.0.0/0, 2001:db8::1, false",
    "2001:db8::/33, 2001:db8:7fff::1, true",
    "2001:db8::/33, 2001:db8:8000::1, false",
    "::ffff:10.0.0.0/104, 10.2.3.4, true",
    "::1, ::1, true"
  })
  void aNetworkContainsItsAddresses(String network, String address, boolean contained) {
    assertThat(ProxyNetworks.of(List.of(network)).contains(Ip.of(address))).isEqualTo(contained);
  }

  @Test
  void withoutNetworksNobodyIsAProxy() {
    assertThat(ProxyNetworks.of(List.of()).contains(Ip.of("127.0.0.1"))).isFalse();
    assertThat(ProxyNetworks.of(List.of("::/0")).contains(null)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"10.0.0.0/33", "10.0.0", "300.0.0.1", "abc.de", "2001:db8::/129", "::g", "/8"})
  void textsThatAreNoNetworksAreNamed(String text) {
    assertThatThrownBy(() -> ProxyNetworks.of(List.of("10.0.0.1", text)))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("listen.proxies: \"" + text + "\" (expected: IP addresses and");
  }
}
