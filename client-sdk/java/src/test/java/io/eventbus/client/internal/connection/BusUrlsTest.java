package io.eventbus.client.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BusUrlsTest {
  private static final URI A = URI.create("ws://a/bus");
  private static final URI B = URI.create("ws://b/bus");
  private static final URI C = URI.create("ws://c:8080/bus");

  private final BusUrls addresses = new BusUrls(List.of(A, B));

  @Test
  void theConfiguredOnesComeInTurn() {
    assertThat(addresses.configuredLeft()).isEqualTo(2);
    assertThat(addresses.next()).isEqualTo(A);
    assertThat(addresses.configuredLeft()).isEqualTo(1);
    assertThat(addresses.next()).isEqualTo(B);
    assertThat(addresses.next()).isEqualTo(A);
  }

  @Test
  void otherBusesComeAfterTheConfiguredOnes() {
    assertThat(addresses.next()).isEqualTo(A);
    addresses.welcomed(A, List.of("ws://c:8080/bus", "ws://d/bus"));
    addresses.restart();
    assertThat(addresses.next()).isEqualTo(B);
    assertThat(addresses.next()).isEqualTo(A);
    assertThat(addresses.next()).isEqualTo(C);
    assertThat(addresses.next()).isEqualTo(URI.create("ws://d/bus"));
    assertThat(addresses.next()).isEqualTo(B);
  }

  @Test
  void aConnectionThatDoesNotHoldDoesNotStartTheTurnAnew() {
    addresses.next();
    addresses.next();
    addresses.welcomed(B, List.of("ws://c:8080/bus"));
    assertThat(addresses.next()).isEqualTo(C);
  }

  @Test
  void theLastBusKnowsBest() {
    addresses.welcomed(A, List.of("ws://c:8080/bus"));
    addresses.welcomed(B, List.of());
    addresses.restart();
    assertThat(List.of(addresses.next(), addresses.next(), addresses.next()))
        .containsExactly(A, B, A);
  }

  @Test
  void triesTheAddressesOfAMoveFirst() {
    addresses.move(A, List.of("ws://c:8080/bus"));
    assertThat(addresses.next()).isEqualTo(C);
    assertThat(addresses.next()).isEqualTo(A);
  }

  @Test
  void configuredAndDoubledOnesAreNotTakenTwice() {
    addresses.welcomed(A, List.of("ws://b/bus", "ws://c:8080/bus", "ws://c:8080/bus"));
    addresses.next();
    addresses.next();
    assertThat(addresses.next()).isEqualTo(C);
    assertThat(addresses.next()).isEqualTo(A);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "not a url",
        "http://c/bus",
        "ws:///bus",
        "ws://c/bus#part",
        "ws://user:secret@c/bus",
        "ws://c:0/bus",
        "ws://c:70000/bus",
        "c:8080"
      })
  void ignoresIllegalAddresses(String named) {
    addresses.welcomed(A, List.of(named));
    addresses.next();
    addresses.next();
    assertThat(addresses.next()).isEqualTo(A);
  }

  @Test
  void aSecureClientIsNotLedToAPlainConnection() {
    URI secure = URI.create("wss://a/bus");
    BusUrls tls = new BusUrls(List.of(secure));
    tls.welcomed(secure, List.of("ws://c/bus", "wss://d/bus"));
    assertThat(tls.next()).isEqualTo(secure);
    assertThat(tls.next()).isEqualTo(URI.create("wss://d/bus"));
    assertThat(tls.next()).isEqualTo(secure);
    tls.move(secure, List.of("ws://c/bus"));
    assertThat(tls.next()).isNotEqualTo(URI.create("ws://c/bus"));
  }

  @Test
  void boundsTheKnownAddresses() {
    String longest = "ws://c/" + "x".repeat(BusUrls.MAX_CHARS - 7);
    List<String> many =
        IntStream.range(0, 100_000).mapToObj(i -> "ws://many" + i + "/bus").toList();
    addresses.welcomed(A, List.of(longest, longest + "y"));
    addresses.next();
    addresses.next();
    assertThat(addresses.next()).isEqualTo(URI.create(longest));
    assertThat(addresses.next()).isEqualTo(A);
    addresses.welcomed(A, many);
    addresses.restart();
    addresses.next();
    addresses.next();
    for (int i = 0; i < BusUrls.MAX_OTHERS; i++) {
      assertThat(addresses.next().getHost()).isEqualTo("many" + i);
    }
    assertThat(addresses.next().getHost()).hasSize(1);
  }
}
