package io.eventbus.loadtest.driver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/**
 * Finder of ports for servers that must be told each other's before they start.
 *
 * <p>The ports lie below those that Linux gives to outgoing connections by itself, which would take
 * a port between its choice and its use.
 */
public final class FreePorts {
  private static final int MIN_PORT = 15_000;
  private static final int MAX_PORT = 32_000;
  private static final int MAX_ATTEMPTS = 100;

  private FreePorts() {}

  /** Finds different ports of the loopback interface. */
  public static List<Integer> find(int count) {
    return Stream.generate(FreePorts::find).distinct().limit(count).toList();
  }

  private static int find() {
    for (int attempt = 1; ; attempt++) {
      int port = ThreadLocalRandom.current().nextInt(MIN_PORT, MAX_PORT);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (BindException e) {
        if (attempt == MAX_ATTEMPTS) {
          throw new UncheckedIOException(e);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
