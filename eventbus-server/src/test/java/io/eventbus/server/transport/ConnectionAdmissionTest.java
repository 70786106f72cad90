package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that have passed a proxy, so that their client is not local. */
class ConnectionAdmissionTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Forwarded",
        "X-Forwarded-For",
        "x-forwarded-for",
        "X-Forwarded-Proto",
        "x-forwarded-host",
        "X-Real-IP",
        "x-real-ip",
        "Via"
      })
  void anyForwardingHeaderIsEnough(String header) {
    HttpHeaders headers = new DefaultHttpHeaders().set("Host", "x").set(header, "y");
    assertThat(ConnectionAdmission.isForwarded(headers)).isTrue();
  }

  @Test
  void otherHeadersAreThoseOfAClient() {
    HttpHeaders headers = new DefaultHttpHeaders().set("Host", "x").set("X-Forward", "y");
    assertThat(ConnectionAdmission.isForwarded(headers)).isFalse();
  }
}
