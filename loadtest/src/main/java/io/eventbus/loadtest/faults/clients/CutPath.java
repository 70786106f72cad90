package io.eventbus.loadtest.faults.clients;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/** Path to a bus whose connections can be cut, as those of a program are that is killed. */
final class CutPath implements AutoCloseable {
  private static final int CONNECT_MILLIS = 2_000;
  private static final int BACKLOG = 16;
  private static final int BUFFER_BYTES = 16 * 1024;

  private final URI target;
  private final ServerSocket listening;

  // Guarded by this.
  private final List<Socket> open = new ArrayList<>();

  /**
   * Opens the path.
   *
   * @throws UncheckedIOException if there is no port
   */
  CutPath(URI target) {
    this.target = target;
    try {
      listening = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    daemon(this::accept);
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "path");
    thread.setDaemon(true);
    thread.start();
  }

  /** Returns the address at which it begins. */
  URI url() {
    return URI.create(
        target.getScheme() + "://127.0.0.1:" + listening.getLocalPort() + target.getPath());
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        connect(listening.accept());
      } catch (IOException e) {
        // The path was closed, or the bus is away: the client tries again.
      }
    }
  }

  private void connect(Socket client) throws IOException {
    Socket bus = new Socket();
    try {
      bus.connect(new InetSocketAddress(target.getHost(), target.getPort()), CONNECT_MILLIS);
      client.setTcpNoDelay(true);
      bus.setTcpNoDelay(true);
    } catch (IOException e) {
      client.close();
      bus.close();
      throw e;
    }
    synchronized (this) {
      open.removeIf(Socket::isClosed);
      open.add(client);
      open.add(bus);
    }
    daemon(() -> copy(client, bus));
    daemon(() -> copy(bus, client));
  }

  private static void copy(Socket from, Socket to) {
    try (from;
        to) {
      byte[] buffer = new byte[BUFFER_BYTES];
      int read = from.getInputStream().read(buffer);
      while (read >= 0) {
        to.getOutputStream().write(buffer, 0, read);
        read = from.getInputStream().read(buffer);
      }
    } catch (IOException e) {
      // Either side may end at any time.
    }
  }

  /** Returns whether there is a connection to cut. */
  synchronized boolean isOpen() {
    return open.stream().anyMatch(socket -> !socket.isClosed());
  }

  /** Ends all connections at once. */
  synchronized void cut() {
    for (Socket socket : open) {
      try {
        socket.close();
      } catch (IOException e) {
        // It has ended already.
      }
    }
    open.clear();
  }

  @Override
  public void close() {
    try {
      listening.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    cut();
  }
}
