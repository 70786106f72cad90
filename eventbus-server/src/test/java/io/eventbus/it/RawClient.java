package io.eventbus.it;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Gap;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Welcome;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Client that sends on the wire exactly the bytes of a test, legal or not: blocking, over a plain
 * socket, with a deadline on every read.
 */
final class RawClient implements AutoCloseable {
  /** Deadline that only notices a hang: a busy machine may take long. */
  static final int DEADLINE_MILLIS = 60_000;

  /** WebSocket frame as it came. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  record WsFrame(int opcode, boolean compressed, byte[] payload) {}

  /** Frame of the protocol. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  record BusFrame(int typeCode, byte[] body) {
    ByteBuffer buffer() {
      return ByteBuffer.wrap(body);
    }
  }

  /** Deliver with its events' payloads as text. */
  record Delivered(
      String topic, long producer, long sequence, List<String> payloads, List<Long> groups) {}

  private final Socket socket;
  private final DataInputStream in;
  private final OutputStream out;
  private final Deque<BusFrame> received = new ArrayDeque<>();
  String httpResponse = "";
  int closeCode = -1;
  String closeReason = "";

  private RawClient(Socket socket) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(DEADLINE_MILLIS);
    socket.setTcpNoDelay(true);
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 16));
    out = socket.getOutputStream();
  }

  /** Opens a TCP connection and says nothing. */
  static RawClient tcp(URI bus) throws IOException {
    return new RawClient(new Socket(InetAddress.getLoopbackAddress(), bus.getPort()));
  }

  /** Takes over a connection, for example one with TLS. */
  static RawClient over(Socket socket) throws IOException {
    return new RawClient(socket);
  }

  /** Opens a TCP connection with a small receive buffer, for a client that is slow. */
  static RawClient slow(URI bus, int receiveBuffer) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(receiveBuffer);
    socket.connect(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), bus.getPort()), DEADLINE_MILLIS);
    return new RawClient(socket);
  }

  /** Connects as far as the upgrade. */
  static RawClient upgraded(URI bus) throws IOException {
    return tcp(bus).upgrade(bus.getPath(), "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n");
  }

  /** Connects and says Hello. */
  static RawClient connected(URI bus) throws IOException {
    RawClient client = upgraded(bus);
    client.hello(null);
    return client;
  }

  RawClient upgrade(String path, String headers) throws IOException {
    http(
        "GET "
            + path
            + " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            + headers
            + "\r\n");
    return this;
  }

  /** Sends a request and reads the head of the answer. */
  void http(String request) throws IOException {
    out.write(request.getBytes(StandardCharsets.ISO_8859_1));
    out.flush();
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      head.append((char) in.readUnsignedByte());
    }
    httpResponse = head.toString();
  }

  Welcome hello(@Nullable String resume) throws IOException {
    Hello hello = new Hello("raw", "test", null, resume, Map.of(), null, null, null);
    send(ControlFrames.encode(TypeCode.HELLO, hello));
    BusFrame frame = expect(TypeCode.WELCOME);
    return ControlFrames.welcome(frame.buffer(), 0, frame.body().length);
  }

  void subscribe(long id, String filter, @Nullable String group, Overflow overflow)
      throws IOException {
    send(ControlFrames.encode(TypeCode.SUBSCRIBE, new Subscribe(id, filter, group, overflow)));
    BusFrame frame = expect(TypeCode.CONFIRM);
    Confirm confirm = ControlFrames.confirm(frame.buffer(), 0, frame.body().length);
    if (confirm.getAbout() != id) {
      throw new AssertionError("confirm of " + confirm.getAbout() + " (expected: " + id + ")");
    }
  }

  void subscribe(long id, String filter) throws IOException {
    subscribe(id, filter, null, Overflow.BLOCK);
  }

  /** Encodes a Publish. */
  static byte[] publish(String topic, long sequence, boolean confirm, byte[]... payloads) {
    ByteArrayOutputStream events = new ByteArrayOutputStream();
    for (byte[] payload : payloads) {
      ByteBuffer event = ByteBuffer.allocate(Frames.eventSize(1, -1, 1, payload.length));
      Frames.writeEvent(event, 1, null, EncodedHeaders.NONE, payload);
      events.writeBytes(event.array());
    }
    byte[] name = topic.getBytes(StandardCharsets.UTF_8);
    ByteBuffer frame =
        ByteBuffer.allocate(
            Frames.publishSize(name.length, sequence, 0, payloads.length, events.size()));
    Frames.writePublish(
        frame, name, sequence, 0, confirm, payloads.length, ByteBuffer.wrap(events.toByteArray()));
    return frame.array();
  }

  static byte[] publish(String topic, long sequence, boolean confirm, String... payloads) {
    byte[][] bytes = new byte[payloads.length][];
    for (int i = 0; i < payloads.length; i++) {
      bytes[i] = payloads[i].getBytes(StandardCharsets.UTF_8);
    }
    return publish(topic, sequence, confirm, bytes);
  }

  /** Sends one binary message. */
  void send(byte[] message) throws IOException {
    sendFrame(0x82, message);
  }

  /** Sends one masked WebSocket frame whose first byte is given. */
  void sendFrame(int first, byte[] payload) throws IOException {
    out.write(frame(first, payload, payload.length));
    out.flush();
  }

  /** Creates a masked frame. */
  static byte[] frame(int first, byte[] payload) {
    return frame(first, payload, payload.length);
  }

  /** Creates a masked frame that claims a length. */
  static byte[] frame(int first, byte[] payload, long claimed) {
    ByteBuffer frame = ByteBuffer.allocate(14 + payload.length);
    frame.put((byte) first);
    if (claimed >= 0 && claimed < 126) {
      frame.put((byte) (0x80 | claimed));
    } else if (claimed >= 0 && claimed < 65_536) {
      frame.put((byte) 0xFE).putShort((short) claimed);
    } else {
      frame.put((byte) 0xFF).putLong(claimed);
    }
    byte[] mask = {0x12, 0x34, 0x56, 0x78};
    frame.put(mask);
    for (int i = 0; i < payload.length; i++) {
      frame.put((byte) (payload[i] ^ mask[i & 3]));
    }
    byte[] bytes = new byte[frame.position()];
    frame.flip().get(bytes);
    return bytes;
  }

  /** Sends bytes as they are. */
  void raw(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
  }

  /** Reads one WebSocket frame; null at the end of the stream. */
  @Nullable WsFrame readWs() throws IOException {
    int first = in.read();
    if (first < 0) {
      return null;
    }
    int length7 = in.readUnsignedByte();
    if ((length7 & 0x80) != 0) {
      throw new AssertionError("a masked frame from the bus");
    }
    long length = length7 < 126 ? length7 : length7 == 126 ? in.readUnsignedShort() : in.readLong();
    byte[] payload = new byte[(int) length];
    in.readFully(payload);
    if ((first & 0x0F) == 8) {
      closeCode = payload.length < 2 ? 1005 : ((payload[0] & 0xFF) << 8) | (payload[1] & 0xFF);
      closeReason =
          payload.length < 2
              ? ""
              : new String(payload, 2, payload.length - 2, StandardCharsets.UTF_8);
    }
    return new WsFrame(first & 0x0F, (first & 0x40) != 0, payload);
  }

  /** Reads the next frame of the protocol, answering pings; null when the bus has closed. */
  @Nullable BusFrame read() throws IOException {
    while (received.isEmpty()) {
      WsFrame ws = readWs();
      if (ws == null || ws.opcode() == 8) {
        return null;
      }
      if (ws.opcode() == 9) {
        sendFrame(0x8A, ws.payload());
      } else if (ws.opcode() == 2) {
        ByteBuffer message = ByteBuffer.wrap(ws.payload());
        FrameCursor frames = new FrameCursor().wrap(message, 0, message.limit());
        while (frames.next()) {
          byte[] body = new byte[frames.bodyEnd() - frames.bodyStart()];
          message.get(frames.bodyStart(), body);
          received.add(new BusFrame(frames.typeCode(), body));
        }
      }
    }
    return received.poll();
  }

  /** Reads the next frame, which has to be of a type. */
  /** Returns the next frame, of any kind. */
  BusFrame next() throws IOException {
    return next("a frame");
  }

  private BusFrame next(String expected) throws IOException {
    BusFrame frame = read();
    if (frame == null) {
      throw new AssertionError(
          "closed with " + closeCode + " " + closeReason + " (expected: " + expected + ")");
    }
    return frame;
  }

  BusFrame expect(TypeCode type) throws IOException {
    BusFrame frame = next(type.toString());
    if (frame.typeCode() != type.code()) {
      throw new AssertionError("a frame " + describe(frame) + " (expected: " + type + ")");
    }
    return frame;
  }

  private static String describe(BusFrame frame) {
    return frame.typeCode() == TypeCode.PROBLEM.code()
        ? ControlFrames.problem(frame.buffer(), 0, frame.body().length).toString()
        : String.valueOf(TypeCode.of(frame.typeCode()));
  }

  Problem expectProblem() throws IOException {
    BusFrame frame = expect(TypeCode.PROBLEM);
    return ControlFrames.problem(frame.buffer(), 0, frame.body().length);
  }

  Gap expectGap() throws IOException {
    BusFrame frame = expect(TypeCode.GAP);
    return ControlFrames.gap(frame.buffer(), 0, frame.body().length);
  }

  Confirm expectConfirm() throws IOException {
    BusFrame frame = expect(TypeCode.CONFIRM);
    return ControlFrames.confirm(frame.buffer(), 0, frame.body().length);
  }

  Delivered expectDeliver() throws IOException {
    return delivered(expect(TypeCode.DELIVER));
  }

  static Delivered delivered(BusFrame frame) {
    DeliverView view = new DeliverView();
    view.read(frame.buffer(), 0, frame.body().length, FrameLimits.DEFAULT);
    List<String> payloads = new ArrayList<>();
    for (var event = view.events(); event.next(); ) {
      payloads.add(new String(event.payload(), StandardCharsets.UTF_8));
    }
    List<Long> groups = new ArrayList<>();
    for (int i = 0; i < view.groupCount(); i++) {
      groups.add(view.group(i));
    }
    return new Delivered(view.topic(), view.producer(), view.sequence(), payloads, groups);
  }

  /**
   * Reads, and throws away, until the bus closes; returns the close code, or -1 for a connection
   * that just ended.
   */
  int awaitClose() throws IOException {
    try {
      while (true) {
        WsFrame ws = readWs();
        if (ws == null || ws.opcode() == 8) {
          return closeCode;
        }
        if (ws.opcode() == 9) {
          sendFrame(0x8A, ws.payload());
        }
      }
    } catch (EOFException e) {
      return closeCode;
    }
  }

  /** Answers a Close and waits for the end of the stream. */
  void awaitEnd() throws IOException {
    try {
      in.transferTo(OutputStream.nullOutputStream());
    } catch (SocketException e) {
      // A reset is an end too.
      return;
    }
  }

  /** Returns whether anything has come within a time. */
  boolean hasData(int millis) throws IOException {
    if (!received.isEmpty()) {
      return true;
    }
    socket.setSoTimeout(millis);
    try {
      in.mark(1);
      int b = in.read();
      in.reset();
      return b >= 0;
    } catch (SocketTimeoutException e) {
      return false;
    } finally {
      socket.setSoTimeout(DEADLINE_MILLIS);
    }
  }

  DataInputStream input() {
    return in;
  }

  Socket socket() {
    return socket;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
