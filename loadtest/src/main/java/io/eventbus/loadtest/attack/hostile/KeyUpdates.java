package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.BusAddress;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** Clients of TLS 1.3 that want new keys all the time: 27 octets each, and much arithmetic. */
record KeyUpdates() implements Attack {
  private static final String REQUEST =
      """
      GET %s HTTP/1.1\r
      Host: localhost:%d\r
      Upgrade: websocket\r
      Connection: Upgrade\r
      Sec-WebSocket-Version: 13\r
      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
      Sec-WebSocket-Protocol: eventbus.v1.avro\r
      \r
      """;

  private static final int TIMEOUT_MILLIS = 10_000;

  @Override
  public String name() {
    return "tls-key-updates";
  }

  @Override
  public String what() {
    return "connections that ask for new keys without end";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 16L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.withTls();
  }

  @Override
  public void run(Field field) throws Exception {
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < field.knob("conns"); i++) {
      Thread thread = new Thread(() -> update(field, context), "key-updates-" + i);
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void update(Field field, SSLContext context) {
    while (!field.over()) {
      try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket()) {
        BusAddress bus = field.bus();
        socket.setSoTimeout(TIMEOUT_MILLIS);
        socket.connect(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), bus.port()), TIMEOUT_MILLIS);
        String request = REQUEST.formatted(bus.path(), bus.port());
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        field.tally().add("connections", 1);
        Thread reader = new Thread(() -> readAll(socket), "key-updates-reader");
        reader.setDaemon(true);
        reader.start();
        while (!field.over()) {
          // On a connection that stands, this is a key update.
          socket.startHandshake();
          field.tally().add("updates", 1);
        }
      } catch (IOException e) {
        field.tally().add("ended", 1);
      }
    }
  }

  /** The bus answers each with one of its own. */
  private static void readAll(SSLSocket socket) {
    try {
      InputStream in = socket.getInputStream();
      byte[] buffer = new byte[4096];
      while (in.read(buffer) >= 0) {
        // Nothing in it matters.
      }
    } catch (IOException e) {
      // The process has ended.
    }
  }
}
