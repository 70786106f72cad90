package io.eventbus.loadtest.run;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.IdleHandshake;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Many connections that do nothing, on one selector: as little client as there can be, so that the
 * figures are the server's. For one thread.
 */
final class IdleConnections implements AutoCloseable {
  /** So many handshakes are under way at the same time. */
  private static final int AT_A_TIME = 64;

  private static final long SELECT_MILLIS = 100;

  private final IdleHandshake handshake;
  private final Selector selector;
  private final ByteBuffer in = IdleConnection.readBuffer();
  private final List<IdleConnection> open = new ArrayList<>();
  private int ready;
  private int lost;

  IdleConnections(IdleHandshake handshake) throws IOException {
    this.handshake = handshake;
    this.selector = Selector.open();
  }

  /**
   * Opens connections, and returns when the server has let all of them in.
   *
   * @return how long it took, in nanoseconds
   */
  long open(int count, Duration deadline) throws IOException {
    long start = System.nanoTime();
    int target = ready + count;
    while (ready < target) {
      while (open.size() < target && open.size() - ready < AT_A_TIME) {
        IdleConnection connection = new IdleConnection(handshake, open.size());
        open.add(connection);
        connection.channel().register(selector, SelectionKey.OP_CONNECT, connection);
      }
      serve(SELECT_MILLIS);
      if (lost > 0) {
        throw new DriverException("a connection was closed after " + ready + " were open");
      }
      if (System.nanoTime() - start > deadline.toNanos()) {
        throw new DriverException(
            ready + " of " + target + " connections within " + deadline.toSeconds() + " s");
      }
    }
    return System.nanoTime() - start;
  }

  /** Holds them open for a time; answers pings. */
  void hold(Duration time) throws IOException {
    long end = System.nanoTime() + time.toNanos();
    for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
      serve(Math.max(1, Math.min(SELECT_MILLIS, TimeUnit.NANOSECONDS.toMillis(left))));
    }
  }

  /** Returns how many the server has closed. */
  int lost() {
    return lost;
  }

  private void serve(long millis) throws IOException {
    selector.select(this::serve, millis);
  }

  private void serve(SelectionKey key) {
    IdleConnection connection = (IdleConnection) key.attachment();
    boolean before = connection.ready();
    try {
      if (key.isConnectable()) {
        connection.connected();
        key.interestOps(SelectionKey.OP_READ);
      } else if (!connection.read(in)) {
        lose(key);
      }
    } catch (IOException e) {
      lose(key);
    }
    if (!before && connection.ready()) {
      ready++;
    }
  }

  private void lose(SelectionKey key) {
    lost++;
    key.cancel();
    try {
      key.channel().close();
    } catch (IOException e) {
      // The connection counts as lost anyway.
      return;
    }
  }

  @Override
  public void close() throws IOException {
    for (IdleConnection connection : open) {
      connection.channel().close();
    }
    selector.close();
  }
}
