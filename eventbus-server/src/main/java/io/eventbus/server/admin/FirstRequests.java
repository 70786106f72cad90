package io.eventbus.server.admin;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * New TLS connections of each address whose first request is not there yet. The JDK's server reads
 * a request on a thread of its pool, so one address that begins many and ends none could hold all
 * of them. Only for TLS does that server tell of a connection before it reads from it; the port is
 * encrypted wherever other machines reach it. Any thread.
 */
final class FirstRequests {
  static final int MOST_OF_ADDRESS = 4;

  /** Whose request a thread reads. */
  private static final ThreadLocal<@Nullable InetAddress> READING = new ThreadLocal<>();

  private final Map<InetAddress, Integer> unread = new HashMap<>();

  /**
   * Begins to read the first request of a connection, on the thread that reads it.
   *
   * @throws IllegalStateException if there are too many of that address; closes the connection
   */
  void begin(InetAddress address) {
    end();
    synchronized (unread) {
      int count = unread.getOrDefault(address, 0);
      if (count >= MOST_OF_ADDRESS) {
        throw new IllegalStateException(
            address + " has " + count + " connections without a request");
      }
      unread.put(address, count + 1);
    }
    READING.set(address);
  }

  /** The request that this thread has read is there, or never will be. Does nothing without one. */
  void end() {
    InetAddress address = READING.get();
    if (address == null) {
      return;
    }
    READING.remove();
    synchronized (unread) {
      unread.computeIfPresent(address, (key, count) -> count == 1 ? null : count - 1);
    }
  }
}
