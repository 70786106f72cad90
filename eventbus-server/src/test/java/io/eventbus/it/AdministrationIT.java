package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Subscribe;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

/** Answers of the administration port about a bus with clients. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class AdministrationIT {
  private static JsonNode get(WatchedBus bus, String path) throws IOException {
    URI uri = URI.create("http://127.0.0.1:" + bus.server().adminPort() + path);
    try (InputStream in = uri.toURL().openStream()) {
      return new ObjectMapper().readTree(in);
    }
  }

  private static List<JsonNode> all(WatchedBus bus, String path, int limit) throws IOException {
    List<JsonNode> items = new ArrayList<>();
    @Nullable String next = path + "?limit=" + limit;
    while (next != null) {
      JsonNode page = get(bus, next);
      page.path("items").forEach(items::add);
      next = page.path("next").isNull() ? null : page.path("next").asText();
    }
    return items;
  }

  private static String http(WatchedBus bus, String request) throws IOException {
    try (RawClient client = RawClient.tcp(bus.uri())) {
      client.raw(request.getBytes(StandardCharsets.US_ASCII));
      return new String(client.input().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void thePagesOfTheAdministrationPortMayConnectAndOthersAreToldWhyNot() throws Exception {
    try (WatchedBus bus = WatchedBus.alone()) {
      String own = "http://localhost:" + bus.server().adminPort();
      String get = "GET /bus HTTP/1.1\r\nHost: localhost:" + bus.uri().getPort() + "\r\nOrigin: ";
      assertThat(http(bus, get + own + "\r\n\r\n"))
          .startsWith("HTTP/1.1 200 ")
          .contains("Access-Control-Allow-Origin: *\r\n");
      assertThat(http(bus, get + "http://localhost:1\r\n\r\n"))
          .startsWith("HTTP/1.1 403 ")
          .contains("Access-Control-Allow-Origin: *\r\n", "listen.allowed-origins");
      String headers = "Origin: " + own + "\r\nSec-WebSocket-Protocol: eventbus.v1.avro\r\n";
      try (RawClient program = RawClient.tcp(bus.uri()).upgrade("/bus", headers)) {
        program.hello(null);
        program.subscribe(1, "a", null, Overflow.BLOCK);
      }
      String browser = headers + "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n";
      try (RawClient page = RawClient.tcp(bus.uri()).upgrade("/bus", browser)) {
        page.hello(null);
        page.send(
            ControlFrames.encode(TypeCode.SUBSCRIBE, new Subscribe(1L, "a", null, Overflow.BLOCK)));
        assertThat(page.expectProblem().getMessage()).contains("listen.browser-block");
        page.subscribe(1, "a", null, Overflow.DROP_OLDEST);
      }
    }
  }

  @Test
  void aSiteThatIsRefusedIsToldOfOnce() throws Exception {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    Logger logger =
        (Logger) LoggerFactory.getLogger("io.eventbus.server.transport.websocket.OriginCheck");
    logger.setLevel(Level.INFO);
    logger.setAdditive(false);
    logger.addAppender(lines);
    lines.start();
    try (WatchedBus bus = WatchedBus.alone()) {
      for (int i = 0; i < 5; i++) {
        try (RawClient page =
            RawClient.tcp(bus.uri()).upgrade("/bus", "Origin: https://app.example.com\r\n")) {
          assertThat(page.httpResponse).startsWith("HTTP/1.1 403 ");
        }
      }
    } finally {
      logger.detachAppender(lines);
      logger.setAdditive(true);
      logger.setLevel(null);
    }
    assertThat(lines.list).hasSize(1);
    assertThat(lines.list.get(0).getFormattedMessage())
        .startsWith("refused a web page of https://app.example.com that was opened at 127.0.0.1:")
        .endsWith("add its site to listen.allowed-origins");
  }

  @Test
  void aPageThatMayNotConnectDoesNotLearnTheAddressOfItsReader() throws Exception {
    try (WatchedBus bus =
        WatchedBus.alone("listen.proxies", "127.0.0.0/8", "limits.address-connections", "1")) {
      String forwarded = "X-Forwarded-For: 203.0.113.7\r\n";
      try (RawClient first =
          RawClient.tcp(bus.uri())
              .upgrade("/bus", "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n" + forwarded)) {
        assertThat(first.httpResponse).startsWith("HTTP/1.1 101 ");
        String get = "GET /bus HTTP/1.1\r\nHost: localhost:8080\r\n" + forwarded;
        assertThat(http(bus, get + "Origin: http://localhost:8080\r\n\r\n"))
            .startsWith("HTTP/1.1 503 ")
            .contains("Access-Control-Allow-Origin: *\r\n", "203.0.113.7");
        assertThat(http(bus, get + "Origin: http://evil.example\r\n\r\n"))
            .startsWith("HTTP/1.1 503 ")
            .doesNotContain("Access-Control");
      }
    }
  }

  @Test
  void everySubscriptionIsListedOnce() throws Exception {
    try (WatchedBus bus = WatchedBus.alone();
        RawClient one = RawClient.connected(bus.uri());
        RawClient none = RawClient.connected(bus.uri());
        RawClient many = RawClient.connected(bus.uri())) {
      assertThat(none.httpResponse).isNotEmpty();
      one.subscribe(7, "a.b");
      for (int i = 0; i < 25; i++) {
        many.subscribe(i, "topic." + i);
      }
      int sum =
          all(bus, "/api/v1/connections", 2).stream()
              .mapToInt(connection -> connection.path("subscriptions").asInt())
              .sum();
      assertThat(sum).isEqualTo(26);
      for (int limit : new int[] {1, 7, 26, 100}) {
        assertThat(all(bus, "/api/v1/subscriptions", limit)).doesNotHaveDuplicates().hasSize(sum);
      }
      assertThat(get(bus, "/api/v1/subscriptions").path("items").get(0).path("filter").asText())
          .isEqualTo("a.b");
      assertThat(get(bus, "/api/v1/subscriptions?after=" + Long.MIN_VALUE + ":0").path("items"))
          .hasSize(26);
    }
  }

  @Test
  void topicsAreListedWithTheirSubscribersAndCounted() throws Exception {
    try (WatchedBus bus = WatchedBus.alone();
        RawClient subscriber = RawClient.connected(bus.uri());
        RawClient publisher = RawClient.connected(bus.uri())) {
      subscriber.subscribe(1, "prices.*");
      for (String topic : List.of("prices.b", "prices.a", "other")) {
        publisher.send(RawClient.publish(topic, 1, true, "x"));
        publisher.expectConfirm();
      }
      List<JsonNode> topics = all(bus, "/api/v1/topics", 2);
      assertThat(topics)
          .extracting(t -> t.path("name").asText())
          .containsExactly("other", "prices.a", "prices.b");
      assertThat(topics).extracting(t -> t.path("subscribers").asInt()).containsExactly(0, 1, 1);
      assertThat(bus.metric("eventbus_topics")).isEqualTo(3);
    }
  }
}
