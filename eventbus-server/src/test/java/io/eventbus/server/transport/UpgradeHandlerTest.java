package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.protocol.CloseReason;
import io.eventbus.server.admission.AddressUsages;
import io.eventbus.server.admission.AuthenticationFailures;
import io.eventbus.server.admission.ConnectionLimit;
import io.eventbus.server.admission.ProxyNetworks;
import io.eventbus.server.transport.websocket.OriginCheck;
import io.eventbus.server.transport.websocket.UpgradeHandshake;
import io.netty.handler.codec.http.HttpRequestDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class UpgradeHandlerTest {
  private static final String REQUEST =
      String.join(
          "\r\n",
          "GET /bus HTTP/1.1",
          "Host: localhost",
          "Upgrade: websocket",
          "Connection: Upgrade",
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
          "Sec-WebSocket-Version: 13",
          "Sec-WebSocket-Protocol: eventbus.v1.avro",
          "",
          "");

  private final Wire wire = new Wire();

  private UpgradeHandler handler() {
    ConnectionAdmission door =
        new ConnectionAdmission(
            ConnectionLimit.ofProcess(10, false),
            new AddressUsages(
                wire.config.addresses(),
                wire.memory.limit(),
                wire.config.limits().subscriptionBudget(),
                100,
                wire.memory.limit(),
                new AuthenticationFailures(
                    new RateLimitedLog(LoggerFactory.getLogger(UpgradeHandlerTest.class)),
                    System::nanoTime),
                System::nanoTime),
            ProxyNetworks.of(List.of()),
            wire.counters);
    UpgradeHandshake handshake =
        new UpgradeHandshake(
            "/bus",
            wire.config.diagnostics().echoPath(),
            false,
            new OriginCheck(List.of(), "127.0.0.1"));
    return new UpgradeHandler(wire.loop, handshake, door);
  }

  /** A client that is slow with the request has less time for its Hello. */
  @Test
  void theDeadlineOfHelloCountsFromTheAcceptanceAndNotFromTheUpgrade() {
    UpgradeHandler handler = handler();
    long accepted = System.nanoTime();
    // Both go in front: the last first.
    wire.insert(handler);
    wire.insert(new HttpRequestDecoder());
    wire.read(REQUEST.getBytes(StandardCharsets.US_ASCII));
    assertThat(wire.rawText()).startsWith("HTTP/1.1 101 ");
    List<ConnectionLoop.Ticking> connections = wire.loop.connections();
    assertThat(connections).singleElement().isInstanceOf(WebSocketConnection.class);
    connections.get(0).onTick(accepted + wire.config.timeouts().hello().toNanos() + 1);
    assertThat(wire.written())
        .containsExactly(
            new Wire.Close(CloseReason.IDLE.code(), "no Hello within 5s of connecting; reconnect"));
    wire.hangUp();
  }
}
