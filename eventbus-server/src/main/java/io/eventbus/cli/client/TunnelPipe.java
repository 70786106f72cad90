package io.eventbus.cli.client;

import io.eventbus.client.Tunnel;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** Joins tunnels to TCP connections and other streams, with a thread for each direction. */
final class TunnelPipe implements AutoCloseable {
  /** Bytes that are read at once. */
  private static final int CHUNK_BYTES = 32 * 1024;

  // As many as there are tunnels, which the bus bounds.
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "eventbus-tunnel");
            thread.setDaemon(true);
            return thread;
          });

  /** Runs a task on a thread of its own. */
  void start(Runnable task) {
    threads.execute(task);
  }

  /**
   * Copies both ways until both have ended: the end of one direction is passed on, and a failure
   * ends both.
   */
  void join(Tunnel tunnel, Socket socket, Runnable done) {
    threads.execute(
        () -> {
          try {
            send(socket.getInputStream(), tunnel);
          } catch (IOException e) {
            tunnel.reset("io", "the TCP connection has failed");
          }
        });
    threads.execute(
        () -> {
          try (socket) {
            receive(tunnel, socket.getOutputStream());
            socket.shutdownOutput();
            // The other direction may go on.
            tunnel.closed().toCompletableFuture().handle((ok, failure) -> failure == null).join();
          } catch (IOException e) {
            tunnel.close();
            abort(socket);
          } finally {
            done.run();
          }
        });
  }

  /** Aborts, so that the other end sees that not everything has come. */
  private static void abort(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      // The socket is closed already.
      return;
    }
  }

  /** Sends what a stream has, and its end. */
  static void send(InputStream from, Tunnel tunnel) throws IOException {
    OutputStream out = tunnel.asOutputStream();
    byte[] chunk = new byte[CHUNK_BYTES];
    for (int n = from.read(chunk); n >= 0; n = from.read(chunk)) {
      out.write(chunk, 0, n);
    }
    tunnel.closeOutput();
  }

  /** Writes what comes, until its end. */
  static void receive(Tunnel tunnel, OutputStream to) throws IOException {
    InputStream in = tunnel.asInputStream();
    byte[] chunk = new byte[CHUNK_BYTES];
    for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
      to.write(chunk, 0, n);
      if (in.available() == 0) {
        to.flush();
      }
    }
    to.flush();
  }

  /** Ends a TCP connection that nothing was joined to. */
  static void close(@Nullable Socket socket) {
    if (socket != null) {
      abort(socket);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
