package io.eventbus.testing;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finder of ports for servers that are told a port, or are started again at the same one.
 *
 * <p>The ports lie below those that Linux gives to outgoing connections by itself: one of these
 * could take a port before the server does.
 */
public final class TestPorts {
  private static final int MIN_PORT = 15_000;
  private static final int MAX_PORT = 32_000;
  private static final int MAX_ATTEMPTS = 100;

  private TestPorts() {}

  /**
   * Finds a port of the loopback interface.
   *
   * @throws IOException if none is found
   */
  public static int find() throws IOException {
    for (int attempt = 1; ; attempt++) {
      int port = ThreadLocalRandom.current().nextInt(MIN_PORT, MAX_PORT);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (BindException e) {
        if (attempt == MAX_ATTEMPTS) {
          throw e;
        }
      }
    }
  }
}
