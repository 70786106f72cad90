package io.eventbus.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StrangersTest {
  private final Strangers strangers = new Strangers(3);

  private static InetAddress address(int last) throws UnknownHostException {
    return InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) last});
  }

  @Test
  void theOldestOfTheAddressThatHasMostMakesRoom() throws Exception {
    Channel bus = new EmbeddedChannel();
    Channel first = new EmbeddedChannel();
    Channel second = new EmbeddedChannel();
    assertThat(strangers.add(bus, address(1))).isNull();
    assertThat(strangers.add(first, address(2))).isNull();
    assertThat(strangers.add(second, address(2))).isNull();
    assertThat(strangers.add(new EmbeddedChannel(), address(2))).isSameAs(first);
    assertThat(strangers.add(new EmbeddedChannel(), address(3))).isSameAs(second);
    assertThat(strangers.count()).isEqualTo(3);
  }

  @Test
  void ofManyAddressesTheOldestConnectionMakesRoomAndNeverTheNewest() throws Exception {
    List<Channel> all = new ArrayList<>();
    for (int i = 1; i <= 100; i++) {
      Channel next = new EmbeddedChannel();
      all.add(next);
      Channel evicted = strangers.add(next, address(i));
      assertThat(evicted).isSameAs(i <= 3 ? null : all.get(i - 4));
    }
  }

  @Test
  void aHandshakeThatIsOverMakesRoom() throws Exception {
    Channel bus = new EmbeddedChannel();
    assertThat(strangers.add(bus, address(1))).isNull();
    strangers.remove(bus);
    strangers.remove(bus);
    for (int i = 0; i < 3; i++) {
      assertThat(strangers.add(new EmbeddedChannel(), address(1))).isNull();
    }
    assertThat(strangers.count()).isEqualTo(3);
  }
}
