package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Register;
import io.eventbus.server.BusServer;
import io.eventbus.server.samples.SampleCalls;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.Map;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Client whose connection is not read, because it publishes too much, and that sends Pongs. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class UnreadClientIT {
  private static final int PONGS = 2_000;
  private static final byte[] NOTHING = {};

  /** Publishes two seconds' worth at once, and one event that has to wait for that. */
  private static void assertPongsChangeNothing(RawClient client) throws Exception {
    try (client) {
      client.upgrade("/bus", "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n");
      client.hello(null);
      String[] payloads = new String[20];
      Arrays.fill(payloads, "x");
      client.send(RawClient.publish("a", 1, true, payloads));
      client.send(RawClient.publish("a", 21, true, "y"));
      for (int i = 0; i < PONGS; i++) {
        client.sendFrame(0x8A, NOTHING);
      }
      assertThat(client.expectConfirm().getAbout()).isEqualTo(20);
      assertThat(client.expectConfirm().getAbout()).isEqualTo(21);
    }
  }

  @Test
  void itsPongsWaitLikeAllThatItSends() throws Exception {
    try (BusServer bus = TestBus.start("quotas.publish-events", "10")) {
      assertPongsChangeNothing(RawClient.tcp(bus.uri()));
    }
  }

  /** A client whose calls go on meanwhile, so that its event waits apart from the connection. */
  @Test
  void anEventThatWaitsForAQuotaOfAClientThatServesIsPublishedInTheEnd() throws Exception {
    try (BusServer bus = TestBus.start("quotas.publish-events", "10");
        RawClient client = RawClient.connected(bus.uri())) {
      client.send(
          ControlFrames.encode(
              TypeCode.REGISTER,
              new Register(7L, "orders", 4, false, "", Map.of(), Overflow.DROP_OLDEST)));
      assertThat(client.expectConfirm().getAbout()).isEqualTo(7);
      assertThatPublishesWait(client);
    }
  }

  private static void assertThatPublishesWait(RawClient client) throws Exception {
    String[] payloads = new String[20];
    Arrays.fill(payloads, "x");
    client.send(RawClient.publish("a", 1, true, payloads));
    client.send(RawClient.publish("a", 21, true, "y"));
    assertThat(client.expectConfirm().getAbout()).isEqualTo(20);
    assertThat(client.expectConfirm().getAbout()).isEqualTo(21);
  }

  @Test
  void requestsOfOneThatSendsTooMuchAreReadLater() throws Exception {
    try (BusServer bus = TestBus.start("quotas.publish-bytes", "1000");
        RawClient client = RawClient.connected(bus.uri())) {
      for (int call = 1; call <= 2; call++) {
        client.send(
            ControlFrames.encode(
                TypeCode.REQUEST, SampleCalls.request(call, "nobody", "x".repeat(1500))));
      }
      for (int call = 1; call <= 2; call++) {
        assertThat(client.expect(TypeCode.FAILURE)).isNotNull();
      }
    }
  }

  /** Each is a record of its own, and all that had been read is decrypted. */
  @Test
  void sameOverTls() throws Exception {
    try (TestCertificate certificate = TestCertificate.make();
        BusServer bus =
            TestBus.start(
                "quotas.publish-events",
                "10",
                "tls.certificate",
                certificate.certificatePem().toString(),
                "tls.key",
                certificate.keyPem().toString())) {
      SSLSocket socket =
          (SSLSocket)
              certificate
                  .trusting()
                  .getSocketFactory()
                  .createSocket(InetAddress.getLoopbackAddress(), bus.port());
      socket.startHandshake();
      assertPongsChangeNothing(RawClient.over(socket));
    }
  }
}
