package io.eventbus.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectOptionsTest {
  @ParameterizedTest
  @CsvSource({
    "localhost, ws://localhost:8080/bus",
    "localhost:9, ws://localhost:9/bus",
    "[::1]:9, ws://[::1]:9/bus",
    "ws://bus.example.org, ws://bus.example.org/bus",
    "wss://bus.example.org:9, wss://bus.example.org:9/bus",
    "wss://bus.example.org/other, wss://bus.example.org/other",
    "localhost:9/other, ws://localhost:9/other"
  })
  void addressesAreCompleted(String address, String url) {
    assertThat(ConnectOptions.uri(address)).hasToString(url);
  }
}
