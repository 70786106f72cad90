package io.eventbus.server.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet6Address;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class ClientAddressTest {
  @Test
  void anAddressOfV4CountsByItself() {
    ClientAddress address = ClientAddress.of(Ip.of("203.0.113.7"));
    assertThat(address)
        .hasToString("203.0.113.7")
        .isEqualTo(ClientAddress.of(Ip.of("203.0.113.7")));
    assertThat(address).isNotEqualTo(ClientAddress.of(Ip.of("203.0.113.8")));
    assertThat(ClientAddress.of(Ip.of("255.255.255.255"))).hasToString("255.255.255.255");
  }

  @Test
  void anAddressOfV6CountsByItsNetwork() {
    ClientAddress address = ClientAddress.of(Ip.of("2001:db8:1:2::1"));
    assertThat(address).isEqualTo(ClientAddress.of(Ip.of("2001:db8:1:2:ffff::9")));
    assertThat(address).isNotEqualTo(ClientAddress.of(Ip.of("2001:db8:1:3::1")));
    assertThat(address).hasToString("2001:db8:1:2::/64");
  }

  @Test
  void anAddressOfV4InAnAddressOfV6IsThatOfV4() throws UnknownHostException {
    byte[] mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, (byte) 203, 0, 113, 7};
    Inet6Address address = Inet6Address.getByAddress(null, mapped, -1);
    assertThat(ClientAddress.of(address)).isEqualTo(ClientAddress.of(Ip.of("203.0.113.7")));
    assertThat(ProxyNetworks.of(java.util.List.of("203.0.113.0/24")).contains(address)).isTrue();
  }
}
