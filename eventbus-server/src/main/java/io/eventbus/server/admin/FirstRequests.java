package io.eventbus.server.admin;

import io.eventbus.server.admission.ClientAddress;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * New TLS connections of each address whose first request is not there yet. The JDK's server reads
 * a request on a thread of its pool, so addresses that begin many and end none could hold all of
 * them. Only for TLS does that server tell of a connection before it reads from it; the port is
 * encrypted wherever other machines reach it. Any thread.
 */
final class FirstRequests {
  static final int MOST_OF_ADDRESS = 4;

  /** The same of all addresses together that have not proved themselves: half of the threads. */
  static final int MAX_OF_STRANGERS = AdminServer.THREADS / 2;

  /** Whose request a thread reads. */
  private static final ThreadLocal<@Nullable Reading> READING = new ThreadLocal<>();

  private final ProvedAddresses proved;
  private final Map<ClientAddress, Integer> unread = new HashMap<>();
  private final LongAdder failed = new LongAdder();
  private int ofStrangers;

  private record Reading(ClientAddress address, boolean isStranger) {}

  /**
   * Makes one without connections.
   *
   * @param proved addresses for which threads are kept
   */
  FirstRequests(ProvedAddresses proved) {
    this.proved = proved;
  }

  /**
   * Begins to read the first request of a connection, on the thread that reads it.
   *
   * @throws IllegalStateException if there are too many of that address, or of all; closes the
   *     connection
   */
  void begin(InetAddress client) {
    end();
    ClientAddress address = ClientAddress.of(client);
    boolean isStranger = !proved.contains(address);
    synchronized (unread) {
      int count = unread.getOrDefault(address, 0);
      if (count >= MOST_OF_ADDRESS) {
        throw new IllegalStateException(
            client + " has " + count + " connections without a request");
      }
      if (isStranger && ofStrangers >= MAX_OF_STRANGERS) {
        throw new IllegalStateException(
            "strangers have " + ofStrangers + " connections without a request");
      }
      unread.put(address, count + 1);
      ofStrangers += isStranger ? 1 : 0;
    }
    READING.set(new Reading(address, isStranger));
  }

  /**
   * Ends the work of this thread for a connection: one whose request is not {@linkplain #end there}
   * has failed.
   */
  void leave() {
    if (end()) {
      failed.increment();
    }
  }

  /**
   * Returns how many connections have ended without a request: their handshake failed, or nothing
   * came after it.
   */
  long failed() {
    return failed.sum();
  }

  /**
   * Notes that the request that this thread reads is there. Does nothing without one.
   *
   * @return false if there was none
   */
  boolean end() {
    Reading reading = READING.get();
    if (reading == null) {
      return false;
    }
    READING.remove();
    synchronized (unread) {
      unread.computeIfPresent(reading.address(), (key, count) -> count == 1 ? null : count - 1);
      ofStrangers -= reading.isStranger() ? 1 : 0;
    }
    return true;
  }
}
