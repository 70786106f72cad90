package io.eventbus.loadtest.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.IdleHandshake;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class IdleConnectionsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final int PONG = 0x8A;

  private final ServerSocket server;
  private final Queue<Socket> accepted = new ConcurrentLinkedQueue<>();
  private final Queue<String> heard = new ConcurrentLinkedQueue<>();

  IdleConnectionsTest() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  /** Action of the server for a connection. */
  private interface Conversation {
    void hold(Socket socket, DataInputStream in) throws IOException;
  }

  private void serve(Conversation conversation) {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (true) {
                  Socket socket = server.accept();
                  accepted.add(socket);
                  conversation.hold(socket, new DataInputStream(socket.getInputStream()));
                }
              } catch (IOException e) {
                heard.add("end");
              }
            },
            "server");
    thread.setDaemon(true);
    thread.start();
  }

  @AfterEach
  void close() throws IOException {
    server.close();
    for (Socket socket : accepted) {
      socket.close();
    }
  }

  private IdleHandshake handshake(String path) {
    return new IdleHandshake(
        server.getLocalPort(),
        path,
        "",
        ByteBuffer.wrap("hello".getBytes(StandardCharsets.US_ASCII)),
        IdleHandshake.text("welcome"));
  }

  private static void greet(Socket socket, DataInputStream in) throws IOException {
    in.readNBytes(5);
    // In pieces: the answer is not always one read.
    send(socket, "wel".getBytes(StandardCharsets.US_ASCII));
    send(socket, "come".getBytes(StandardCharsets.US_ASCII));
  }

  private static void send(Socket socket, byte... bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    socket.getOutputStream().flush();
  }

  private static void upgrade(Socket socket, DataInputStream in, String answer) throws IOException {
    StringBuilder request = new StringBuilder();
    while (!request.toString().endsWith("\r\n\r\n")) {
      request.append((char) in.readUnsignedByte());
    }
    send(socket, (answer + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
  }

  @Test
  void opensAndHoldsWhatTheServerLetsIn() throws Exception {
    serve(IdleConnectionsTest::greet);
    try (IdleConnections connections = new IdleConnections(handshake(""))) {
      assertThat(connections.open(100, DEADLINE)).isPositive();
      assertThat(accepted).hasSize(100);
      connections.hold(Duration.ofMillis(10));
      assertThat(connections.lost()).isZero();
    }
  }

  @Test
  void seesWhatTheServerCloses() throws Exception {
    serve(IdleConnectionsTest::greet);
    try (IdleConnections connections = new IdleConnections(handshake(""))) {
      connections.open(3, DEADLINE);
      accepted.element().close();
      long end = System.nanoTime() + DEADLINE.toNanos();
      while (connections.lost() == 0 && System.nanoTime() < end) {
        connections.hold(Duration.ofMillis(1));
      }
      assertThat(connections.lost()).isEqualTo(1);
    }
  }

  @Test
  void upgradesGreetsMaskedAndAnswersPings() throws Exception {
    serve(
        (socket, in) -> {
          upgrade(socket, in, "HTTP/1.1 101 Switching Protocols");
          heard.add(frame(in, 0x82));
          send(socket, (byte) 0x82, (byte) 7);
          send(socket, "welcome".getBytes(StandardCharsets.US_ASCII));
          send(socket, (byte) 0x89, (byte) 2, (byte) 'h', (byte) 'i');
          heard.add(frame(in, PONG));
        });
    try (IdleConnections connections = new IdleConnections(handshake("/bus"))) {
      connections.open(1, DEADLINE);
      long end = System.nanoTime() + DEADLINE.toNanos();
      while (heard.size() < 2 && System.nanoTime() < end) {
        connections.hold(Duration.ofMillis(1));
      }
      assertThat(heard).containsExactly("hello", "hi");
    }
  }

  /** Reads a short frame, which has to be masked, with any mask. */
  private static String frame(DataInputStream in, int first) throws IOException {
    assertThat(in.readUnsignedByte()).isEqualTo(first);
    int length = in.readUnsignedByte();
    assertThat(length & 0x80).isNotZero();
    byte[] mask = in.readNBytes(4);
    byte[] payload = in.readNBytes(length & 0x7F);
    for (int i = 0; i < payload.length; i++) {
      payload[i] ^= mask[i & 3];
    }
    return new String(payload, StandardCharsets.US_ASCII);
  }

  @Test
  void aServerThatDoesNotUpgradeIsAFailure() throws Exception {
    serve((socket, in) -> upgrade(socket, in, "HTTP/1.1 404 Not Found"));
    try (IdleConnections connections = new IdleConnections(handshake("/bus"))) {
      assertThatThrownBy(() -> connections.open(1, DEADLINE))
          .isInstanceOf(DriverException.class)
          .hasMessage("no upgrade: HTTP/1.1 404 Not Found");
    }
  }

  @Test
  void aServerThatSaysNothingIsGivenUp() throws Exception {
    serve((socket, in) -> in.readNBytes(5));
    try (IdleConnections connections = new IdleConnections(handshake(""))) {
      assertThatThrownBy(() -> connections.open(1, Duration.ofMillis(50)))
          .isInstanceOf(DriverException.class)
          .hasMessageContaining("0 of 1 connections within");
    }
  }
}
