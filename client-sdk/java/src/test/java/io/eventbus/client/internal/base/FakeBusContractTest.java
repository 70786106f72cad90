package io.eventbus.client.internal.base;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ack;
import java.net.URI;

/** The transport that the tests of the client use. */
class FakeBusContractTest extends TransportContract {
  private final FakeBus bus = new FakeBus();

  @Override
  protected Transport transport() {
    return bus;
  }

  @Override
  protected URI url() {
    return URI.create("ws://one/bus");
  }

  @Override
  protected URI deadUrl() {
    bus.unreachable.add("ws://two/bus");
    return URI.create("ws://two/bus");
  }

  @Override
  protected Peer accept() {
    FakeBus.Connection connection = bus.connection();
    return new Peer() {
      @Override
      public void say(byte[] message) {
        connection.message(message);
      }

      @Override
      public byte[] hear() throws InterruptedException {
        return ControlFrames.encode(TypeCode.ACK, (Ack) bus.next(TypeCode.ACK).content());
      }

      @Override
      public void pong() {
        // The connection has answered already.
      }

      @Override
      public void close(int code, String reason) {
        connection.end(code, reason);
      }

      @Override
      public int heardClose() {
        return connection.closedWith;
      }
    };
  }
}
