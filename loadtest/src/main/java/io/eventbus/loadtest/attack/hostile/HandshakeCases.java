package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.BusAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Upgrades that a server should refuse, each judged by the status of the answer. */
record HandshakeCases() implements Attack {
  private static final int TIMEOUT_MILLIS = 3_000;
  private static final int STATUS_END = 12;
  private static final String KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

  @Override
  public String name() {
    return "handshake";
  }

  @Override
  public String what() {
    return "upgrades without Host, with two of Host, key or Origin, with a repeated parameter";
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.with("compression.enabled", "true");
  }

  @Override
  public void run(Field field) throws IOException, InterruptedException {
    String host = "Host: " + BusAddress.HOST + ":" + field.bus().port() + "\r\n";
    String own = "Origin: http://" + BusAddress.HOST + ":" + field.bus().port() + "\r\n";
    Map<String, String> bad = new LinkedHashMap<>();
    bad.put("no Host", KEY);
    bad.put("two Hosts", host + "Host: other.example\r\n" + KEY);
    bad.put("two keys", host + KEY + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n");
    bad.put("two Origins", host + KEY + own + "Origin: http://evil.example\r\n");
    for (Map.Entry<String, String> headers : bad.entrySet()) {
      Answer answer = ask(field, headers.getValue());
      field
          .tally()
          .check(
              headers.getKey() + " is refused",
              Set.of(400, 403).contains(answer.status),
              "status " + answer.status);
    }
    String repeated =
        "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover;"
            + " server_no_context_takeover\r\n";
    Answer deflate = ask(field, host + KEY + repeated);
    field
        .tally()
        .check(
            "an offer that repeats a parameter is declined",
            deflate.status == 400 || !deflate.deflates,
            "status " + deflate.status + (deflate.deflates ? ", accepted" : ", declined"));
    Answer good = ask(field, host + KEY);
    field.tally().check("a plain upgrade is accepted", good.status == 101, "status " + good.status);
    field.untilOver();
  }

  private record Answer(int status, boolean deflates) {}

  private static Answer ask(Field field, String headers) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), field.bus().port()),
          TIMEOUT_MILLIS);
      socket.setSoTimeout(TIMEOUT_MILLIS);
      String request =
          "GET "
              + field.bus().path()
              + " HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: eventbus.v1.avro\r\n"
              + headers
              + "\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      StringBuilder head = new StringBuilder();
      for (int c = socket.getInputStream().read();
          c >= 0 && head.indexOf("\r\n\r\n") < 0;
          c = socket.getInputStream().read()) {
        head.append((char) c);
        if (head.indexOf("\r\n\r\n") >= 0) {
          break;
        }
      }
      int status =
          head.length() < STATUS_END
              ? 0
              : Integer.parseInt(head.substring(STATUS_END - 3, STATUS_END));
      return new Answer(status, head.indexOf("permessage-deflate") >= 0);
    } catch (SocketTimeoutException e) {
      return new Answer(0, false);
    }
  }
}
