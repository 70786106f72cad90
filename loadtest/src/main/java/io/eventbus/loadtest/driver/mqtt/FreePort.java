package io.eventbus.loadtest.driver.mqtt;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Finds a port for a broker that cannot be told to take any free one. */
final class FreePort {
  private FreePort() {}

  /** Returns a port of the loopback interface that was free a moment ago. */
  static int find() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
