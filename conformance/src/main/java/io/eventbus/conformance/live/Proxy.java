package io.eventbus.conformance.live;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashSet;
import java.util.Set;

/**
 * Proxy to a port on loopback that can be cut, stopped and closed; any thread. For a single client,
 * because it takes two threads for each connection.
 */
public final class Proxy implements AutoCloseable {
  private final ServerSocket listening;
  private final int target;
  private final Set<Socket> open = new HashSet<>();
  private boolean stopped;
  private boolean closed;

  /**
   * Opens a free port.
   *
   * @throws UncheckedIOException if there is none
   */
  public Proxy(int target) {
    this.target = target;
    try {
      listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException("no free port", e);
    }
    daemon(this::accept);
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "proxy");
    thread.setDaemon(true);
    thread.start();
  }

  /** Returns its port. */
  public int port() {
    return listening.getLocalPort();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket in = listening.accept();
        Socket out = new Socket();
        synchronized (this) {
          if (closed) {
            in.close();
            continue;
          }
          open.add(in);
          open.add(out);
        }
        out.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target), 1_000);
        in.setTcpNoDelay(true);
        out.setTcpNoDelay(true);
        daemon(() -> copy(in, out));
        daemon(() -> copy(out, in));
      } catch (IOException e) {
        // The port or the connection was closed: the next one may succeed.
      }
    }
  }

  private void copy(Socket from, Socket to) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[16 * 1024];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        awaitGo();
        out.write(buffer, 0, n);
      }
    } catch (IOException e) {
      // Either side may end at any time.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      synchronized (this) {
        open.remove(from);
        open.remove(to);
      }
    }
  }

  private synchronized void awaitGo() throws InterruptedException {
    while (stopped) {
      wait();
    }
  }

  /** Cuts all connections, even in the middle of a frame; new ones are accepted. */
  public synchronized void cut() {
    for (Socket socket : open) {
      try {
        socket.setSoLinger(true, 0);
        socket.close();
      } catch (IOException e) {
        // Closed already.
      }
    }
    open.clear();
  }

  /** Stops forwarding, without ending connections; or continues. */
  public synchronized void stop(boolean stop) {
    stopped = stop;
    notifyAll();
  }

  /** Refuses new connections; or accepts them again. */
  public synchronized void refuse(boolean refuse) {
    closed = refuse;
  }

  @Override
  public void close() {
    try {
      listening.close();
    } catch (IOException e) {
      // Closed.
    }
    stop(false);
    cut();
  }
}
