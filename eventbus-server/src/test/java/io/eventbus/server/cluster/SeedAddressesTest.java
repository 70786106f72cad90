package io.eventbus.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.Endpoint;
import io.eventbus.server.config.ClusterConfig;
import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SeedAddressesTest {
  private static final Endpoint LINKS = new Endpoint("192.0.2.1", 8082);

  private static ServerConfig config(String... settings) {
    Map<String, String> values = new HashMap<>(Map.of("cluster.secret", "0123456789abcdef"));
    for (int i = 0; i < settings.length; i += 2) {
      values.put(settings[i], settings[i + 1]);
    }
    return ServerConfig.of(values);
  }

  private static BusAddresses describe(String bound, String... settings)
      throws UnknownHostException {
    InetSocketAddress clients = new InetSocketAddress(InetAddress.getByName(bound), 8080);
    return new SeedAddresses(config(settings), LINKS.host()).describe(clients, 8081, LINKS);
  }

  @Test
  void allInterfacesAreTheAdvertisedHost() throws Exception {
    BusAddresses told =
        describe(
            "0.0.0.0",
            "admin.host",
            "0.0.0.0",
            "admin.token",
            "0123456789abcdef",
            "admin.plaintext",
            "true");
    assertThat(told.clients()).containsExactly("ws://192.0.2.1:8080/bus");
    assertThat(told.administration()).isEqualTo(new Endpoint("192.0.2.1", 8081));
    assertThat(told.peers()).isEqualTo(LINKS);
    assertThat(told.raft()).isEqualTo(LINKS);
  }

  @Test
  void loopbackAddressesAreNotAnnounced() throws Exception {
    assertThat(describe("0.0.0.0").administration()).isNull();
  }

  @Test
  void aNameIsToldWhereItIsOneInUrls() throws Exception {
    assertThat(describe("127.0.0.1", "listen.host", "bus.example.com").clients())
        .containsExactly("ws://bus.example.com:8080/bus");
    assertThat(describe("127.0.0.1", "listen.host", "my_bus").clients())
        .containsExactly("ws://127.0.0.1:8080/bus");
    assertThat(describe("127.0.0.1", "cluster.client-urls", "wss://a/x, ws://b:1/y").clients())
        .containsExactly("wss://a/x", "ws://b:1/y");
  }

  private static Endpoint found(String... settings) throws IOException {
    ClusterConfig cluster = config(settings).cluster();
    return AdvertisedAddress.find(cluster, 4711);
  }

  @Test
  void theLinksAreWhereSomebodyHasSaidOrWhereTheyListen() throws Exception {
    assertThat(found("cluster.advertised", "bus-1")).isEqualTo(new Endpoint("bus-1", 4711));
    assertThat(found("cluster.advertised", "bus-1:99")).isEqualTo(new Endpoint("bus-1", 99));
    assertThat(found("cluster.host", "192.0.2.7")).isEqualTo(new Endpoint("192.0.2.7", 4711));
    assertThat(found("cluster.join", "localhost:1")).isEqualTo(new Endpoint("localhost", 4711));
  }
}
