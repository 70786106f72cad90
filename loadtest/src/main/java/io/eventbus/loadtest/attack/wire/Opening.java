package io.eventbus.loadtest.attack.wire;

import java.nio.charset.StandardCharsets;

/** Beginning of a connection. Immutable. */
public final class Opening {
  private static final byte[] NOTHING = {};

  private final byte[] request;
  private final byte[] hello;
  private final int receiveBuffer;

  private Opening(byte[] request, byte[] hello, int receiveBuffer) {
    this.request = request;
    this.hello = hello;
    this.receiveBuffer = receiveBuffer;
  }

  /** The HTTP request, empty for none: then nothing that comes is taken apart. */
  byte[] request() {
    return request;
  }

  /** The frame sent after the upgrade, empty for none. */
  byte[] hello() {
    return hello;
  }

  /** Octets of the socket's receive buffer, 0 for the system's choice. */
  int receiveBuffer() {
    return receiveBuffer;
  }

  /**
   * Begins like every client: an upgrade, and {@code Hello}.
   *
   * @param bus where to
   */
  public static Opening client(BusAddress bus) {
    return new Opening(request(bus, ""), ClientFrames.hello("attack", bus.token(), null), 0);
  }

  /**
   * Begins with an upgrade alone.
   *
   * @param bus where to
   */
  public static Opening upgrade(BusAddress bus, String headers) {
    return new Opening(request(bus, headers), NOTHING, 0);
  }

  /** Begins with nothing at all. */
  public static Opening tcp() {
    return new Opening(NOTHING, NOTHING, 0);
  }

  /**
   * Returns the same opening with more header lines.
   *
   * @param bus where to
   */
  public Opening withHeaders(BusAddress bus, String headers) {
    return new Opening(request(bus, headers), hello, receiveBuffer);
  }

  /** Returns the same opening with a small socket buffer. */
  public Opening withReceiveBuffer(int octets) {
    return new Opening(request, hello, octets);
  }

  /** Returns the same opening with another first frame. */
  public Opening withHello(byte[] frame) {
    return new Opening(request, frame, receiveBuffer);
  }

  private static byte[] request(BusAddress bus, String headers) {
    String text =
        "GET "
            + bus.path()
            + " HTTP/1.1\r\nHost: "
            + BusAddress.HOST
            + ":"
            + bus.port()
            + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n"
            + headers
            + "\r\n";
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
