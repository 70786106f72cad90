package io.eventbus.loadtest.system;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Stands before the clients' port of a bus. It passes on what comes, and can do something at an
 * exact point of a new connection: so a test can kill a bus in the middle of a change, and not at
 * about that time. Safe for use by several threads.
 */
final class Gate implements AutoCloseable {
  private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable Trap> trap = new AtomicReference<>();
  private volatile URI bus = URI.create("ws://127.0.0.1:1/bus");

  /** Action once so many bytes have come from the bus, and whether further ones are passed on. */
  private record Trap(int bytes, boolean cut, Runnable action) {}

  Gate() throws IOException {
    Thread thread = new Thread(this::accept, "gate");
    thread.setDaemon(true);
    thread.start();
  }

  /** Returns the address for clients. */
  URI uri() {
    return URI.create("ws://127.0.0.1:" + server.getLocalPort() + "/bus");
  }

  /** Leads new connections to another address. */
  void leadTo(URI uri) {
    bus = uri;
  }

  /**
   * Does something once, when more than so many bytes have come from the bus on one connection and
   * so many were passed on; with 0 when a client connects. Then the rest is passed on.
   */
  void trap(int bytes, Runnable action) {
    trap.set(new Trap(bytes, false, action));
  }

  /** The same, but the rest is not passed on: the connection is closed. */
  void cut(int bytes, Runnable action) {
    trap.set(new Trap(bytes, true, action));
  }

  private void accept() {
    while (!server.isClosed()) {
      Socket client = null;
      try {
        client = server.accept();
        open.add(client);
        Trap set = trap.get();
        boolean cut = set != null && set.bytes == 0 && spring(set);
        if (cut) {
          close(client);
          continue;
        }
        Socket inner = new Socket(InetAddress.getLoopbackAddress(), bus.getPort());
        open.add(inner);
        client.setTcpNoDelay(true);
        inner.setTcpNoDelay(true);
        pump(client, inner, false);
        pump(inner, client, true);
      } catch (IOException e) {
        // The bus is not there, which the client is to notice; or this gate is closed.
        close(client);
      }
    }
  }

  private void close(@Nullable Socket socket) {
    if (socket != null) {
      open.remove(socket);
      try {
        socket.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void pump(Socket from, Socket to, boolean ofBus) {
    Thread thread =
        new Thread(
            () -> {
              try (from;
                  to) {
                copy(from.getInputStream(), to.getOutputStream(), ofBus);
              } catch (IOException e) {
                // Either side has ended: both are closed.
                open.remove(from);
              }
              open.remove(from);
              open.remove(to);
            },
            "gate-pump");
    thread.setDaemon(true);
    thread.start();
  }

  private void copy(InputStream in, OutputStream out, boolean ofBus) throws IOException {
    byte[] buffer = new byte[1 << 12];
    int total = 0;
    for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
      Trap set = ofBus ? trap.get() : null;
      int before = set == null ? n : Math.max(0, Math.min(n, set.bytes - total));
      out.write(buffer, 0, before);
      if (set != null && before < n && spring(set)) {
        return;
      }
      out.write(buffer, before, n - before);
      total += n;
    }
  }

  /** Does what was to be done, unless another connection has come first; true to go on no more. */
  private boolean spring(Trap set) {
    if (!trap.compareAndSet(set, null)) {
      return false;
    }
    set.action.run();
    return set.cut;
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : open) {
      socket.close();
    }
  }
}
