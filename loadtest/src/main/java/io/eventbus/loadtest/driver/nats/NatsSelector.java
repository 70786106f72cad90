package io.eventbus.loadtest.driver.nats;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * All subscribers of a run on one thread, with as little client as there can be. jnats has three
 * threads or more for each connection; with a hundred connections and more in one process, it and
 * not the server is what would be measured.
 */
final class NatsSelector implements AutoCloseable {
  private static final int READ = 256 * 1024;
  private static final int DEADLINE_MILLIS = 20_000;
  private static final String HEAD_END = "\r\n\r\n";

  private final Selector selector;
  private final Queue<Runnable> joining = new ConcurrentLinkedQueue<>();
  private final Thread thread = new Thread(this::run, "nats-subscribers");

  NatsSelector() {
    try {
      this.selector = Selector.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    thread.setDaemon(true);
    thread.start();
  }

  /** Connects a subscriber; the server has the subscription when this returns. */
  Driver.Subscriber subscribe(int port, String filter, Driver.Receiver receiver) {
    try {
      SocketChannel channel =
          SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      channel.socket().setTcpNoDelay(true);
      channel.socket().setSoTimeout(DEADLINE_MILLIS);
      NatsStream stream = new NatsStream(channel, receiver);
      greet(channel, stream, filter);
      channel.configureBlocking(false);
      joining.add(() -> register(channel, stream));
      selector.wakeup();
      return new Subscriber(channel);
    } catch (IOException e) {
      throw new DriverException("no subscription to " + filter, e);
    }
  }

  private void greet(SocketChannel channel, NatsStream stream, String filter) throws IOException {
    String request =
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:"
            + channel.socket().getPort()
            + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
    StringBuilder answer = new StringBuilder();
    while (!answer.toString().endsWith(HEAD_END)) {
      // Byte by byte, so that nothing of the first frame is taken.
      int next = channel.socket().getInputStream().read();
      if (next < 0) {
        throw new IOException("no upgrade: " + answer);
      }
      answer.append((char) next);
    }
    if (!answer.toString().startsWith("HTTP/1.1 101 ")) {
      throw new IOException("no upgrade: " + answer);
    }
    String greeting =
        "CONNECT {\"verbose\":false,\"pedantic\":false,\"lang\":\"java\",\"protocol\":1}\r\nSUB "
            + filter
            + " 1\r\nPING\r\n";
    channel.write(NatsStream.masked(ByteBuffer.wrap(greeting.getBytes(StandardCharsets.US_ASCII))));
    byte[] bytes = new byte[READ];
    while (stream.pongs() == 0) {
      int read = channel.socket().getInputStream().read(bytes);
      if (read < 0) {
        throw new IOException("the server has closed the connection");
      }
      stream.accept(ByteBuffer.wrap(bytes, 0, read));
    }
  }

  private void register(SocketChannel channel, NatsStream stream) {
    try {
      channel.register(selector, SelectionKey.OP_READ, stream);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void run() {
    ByteBuffer in = ByteBuffer.allocateDirect(READ);
    try {
      while (selector.isOpen()) {
        selector.select(key -> read(key, in));
        for (Runnable next = joining.poll(); next != null; next = joining.poll()) {
          next.run();
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ClosedSelectorException e) {
      // The session is closed.
      return;
    }
  }

  private static void read(SelectionKey key, ByteBuffer in) {
    SocketChannel channel = (SocketChannel) key.channel();
    try {
      in.clear();
      if (channel.read(in) < 0) {
        throw new IOException("the server has closed the connection");
      }
      ((NatsStream) key.attachment()).accept(in.flip());
    } catch (IOException e) {
      // Events that do not arrive any more are found lost.
      key.cancel();
      close(channel);
    }
  }

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // The connection is of no use any more.
      return;
    }
  }

  @Override
  public void close() {
    try {
      for (SelectionKey key : selector.keys()) {
        key.channel().close();
      }
      selector.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private record Subscriber(SocketChannel channel) implements Driver.Subscriber {
    @Override
    public long reportedLost() {
      return 0;
    }

    @Override
    public void close() {
      NatsSelector.close(channel);
    }
  }
}
