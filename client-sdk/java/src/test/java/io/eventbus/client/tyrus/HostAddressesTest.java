package io.eventbus.client.tyrus;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.junit.jupiter.api.Test;

class HostAddressesTest {
  private final HostAddresses addresses = new HostAddresses();

  private static InetAddress[] resolve(String host) throws UnknownHostException {
    return switch (host) {
      case "three" -> new InetAddress[] {loopback(1), loopback(2), loopback(3)};
      case "one" -> new InetAddress[] {loopback(9)};
      default -> throw new UnknownHostException(host);
    };
  }

  private static InetAddress loopback(int last) throws UnknownHostException {
    return InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) last});
  }

  private List<String> of(String host) throws UnknownHostException {
    return addresses.inTurn(host, 80, resolve(host)).stream()
        .map(a -> a.getAddress().getHostAddress())
        .toList();
  }

  @Test
  void eachTimeTheNextAddressIsTheFirst() throws Exception {
    assertThat(of("three")).containsExactly("127.0.0.1", "127.0.0.2", "127.0.0.3");
    assertThat(of("three")).containsExactly("127.0.0.2", "127.0.0.3", "127.0.0.1");
    assertThat(of("one")).containsExactly("127.0.0.9");
    assertThat(of("one")).containsExactly("127.0.0.9");
    assertThat(of("three")).containsExactly("127.0.0.3", "127.0.0.1", "127.0.0.2");
    assertThat(of("three")).containsExactly("127.0.0.1", "127.0.0.2", "127.0.0.3");
  }
}
