package io.eventbus.client.tyrus;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/** Other end of a connection, a plain socket: sends whatever a test wants. */
final class WebSocketPeer implements AutoCloseable {
  private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  private static final int MILLIS = 10_000;

  private final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  private Socket socket = new Socket();
  private DataInputStream in = new DataInputStream(DataInputStream.nullInputStream());

  WebSocketPeer() throws IOException {
    server.setSoTimeout(MILLIS);
  }

  URI url() {
    return URI.create("ws://localhost:" + server.getLocalPort() + "/bus");
  }

  void accept() throws IOException {
    socket = server.accept();
    socket.setSoTimeout(MILLIS);
    in = new DataInputStream(socket.getInputStream());
  }

  DataInputStream in() {
    return in;
  }

  /** Reads the lines of a request. */
  List<String> head() throws IOException {
    List<String> lines = new ArrayList<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      lines.add(line);
    }
    return lines;
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.readUnsignedByte(); c != '\n'; c = in.readUnsignedByte()) {
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  /** Reads the request for an upgrade and grants it. */
  void upgrade(String headers) throws Exception {
    String key = "";
    for (String line : head()) {
      if (line.toLowerCase(Locale.ROOT).startsWith("sec-websocket-key:")) {
        key = line.substring(line.indexOf(':') + 1).trim();
      }
    }
    byte[] hash =
        MessageDigest.getInstance("SHA-1").digest((key + GUID).getBytes(StandardCharsets.US_ASCII));
    grant(Base64.getEncoder().encodeToString(hash), headers);
  }

  void upgradeWithProof(String proof) throws IOException {
    head();
    grant(proof, "Sec-WebSocket-Protocol: proto\r\n");
  }

  private void grant(String proof, String headers) throws IOException {
    writeText(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + headers
            + "Sec-WebSocket-Accept: "
            + proof
            + "\r\n\r\n");
  }

  void writeText(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }

  void write(int... values) throws IOException {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    socket.getOutputStream().write(bytes);
  }

  /** Writes the same bytes many times in a thread of its own; completes when all are written. */
  CompletableFuture<Long> writeUntilHeldBack(byte[] bytes, long times) {
    CompletableFuture<Long> written = new CompletableFuture<>();
    Thread writer =
        new Thread(
            () -> {
              try {
                for (long i = 0; i < times; i++) {
                  socket.getOutputStream().write(bytes);
                }
                written.complete(times);
              } catch (IOException e) {
                written.completeExceptionally(e);
              }
            });
    writer.setDaemon(true);
    writer.start();
    return written;
  }

  /** Reads a short frame: its first byte, and its payload without the mask. */
  int[] readFrame() throws IOException {
    int first = in.readUnsignedByte();
    int length = in.readUnsignedByte();
    if ((length & 0x80) == 0 || (length & 0x7F) > 125) {
      throw new IOException("length: " + length + " (expected: masked and short)");
    }
    byte[] mask = new byte[4];
    in.readFully(mask);
    int[] frame = new int[1 + (length & 0x7F)];
    frame[0] = first;
    for (int i = 1; i < frame.length; i++) {
      frame[i] = in.readUnsignedByte() ^ (mask[(i - 1) % 4] & 0xFF);
    }
    return frame;
  }

  /** Returns whether the other side has closed; reads the bytes before that. */
  boolean isEnded() {
    try {
      while (in.read() >= 0) {
        // Bytes from before the end are of no interest.
      }
      return true;
    } catch (java.net.SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
    server.close();
  }
}
