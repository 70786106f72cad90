package io.eventbus.it;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** Path to a port on loopback that can be cut, by closing connections, and healed. */
final class CuttableProxy implements AutoCloseable {
  private final ServerSocket listening;
  private final List<Socket> open = new ArrayList<>();
  private volatile int target;
  private volatile boolean cut;
  private volatile boolean answersLost;

  CuttableProxy() throws IOException {
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    daemon(this::accept);
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "proxy");
    thread.setDaemon(true);
    thread.start();
  }

  int port() {
    return listening.getLocalPort();
  }

  void to(int port) {
    target = port;
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket in = listening.accept();
        if (cut || target == 0) {
          in.close();
          continue;
        }
        Socket out = new Socket();
        out.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target), 1_000);
        in.setTcpNoDelay(true);
        out.setTcpNoDelay(true);
        synchronized (open) {
          open.add(in);
          open.add(out);
        }
        daemon(() -> copy(in, out, false));
        daemon(() -> copy(out, in, true));
      } catch (IOException e) {
        // The port was closed, or had no listener: the next one may be open.
      }
    }
  }

  private void copy(Socket from, Socket to, boolean answers) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[16 * 1024];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        if (!answers || !answersLost) {
          out.write(buffer, 0, n);
        }
      }
    } catch (IOException e) {
      // Either side may end at any time.
    }
  }

  /** Drops what the target sends from now on, as a connection does that is about to break. */
  void loseAnswers() {
    answersLost = true;
  }

  /** Ends all connections, and lets no more through. */
  void cut() throws IOException {
    cut = true;
    synchronized (open) {
      for (Socket socket : open) {
        socket.close();
      }
      open.clear();
    }
  }

  void heal() {
    answersLost = false;
    cut = false;
  }

  @Override
  public void close() throws IOException {
    listening.close();
    cut();
  }
}
