package io.eventbus.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DemoPagesTest {
  private static final URI BUS = URI.create("ws://127.0.0.1:4711/bus");
  private static final Pattern REFERENCE =
      Pattern.compile("(?:src|href)=\"([^\"]+)\"|(?:from|import) '([^']+)'|fetchJson\\('([^']+)'");

  private final HttpClient http = HttpClient.newHttpClient();
  private DemoPages pages;

  @BeforeEach
  void start() throws IOException {
    pages = DemoPages.start();
    pages.serve(BUS, 180);
  }

  @AfterEach
  void stop() {
    pages.close();
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(URI.create(pages.url(path))).build(), BodyHandlers.ofString());
  }

  /** Returns status and first lines of the answer to a request that no browser makes. */
  private String raw(String request) throws IOException {
    URI uri = URI.create(pages.url(""));
    try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
    }
  }

  @Test
  void aPageMayLoadOnlyFromHereAndConnectOnlyToTheBus() throws Exception {
    HttpResponse<String> page = get("board.html");

    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(page.headers().firstValue("Content-Type")).contains("text/html; charset=utf-8");
    assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
        .startsWith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
        .contains("ws://127.0.0.1:4711 http://127.0.0.1:4711;");
    assertThat(page.body()).contains("<script type=\"module\" src=\"board.js\">");
  }

  @Test
  void pagesAreToldWhereTheBusIs() throws Exception {
    assertThat(get("bus.json").body())
        .isEqualTo("{\"url\":\"ws://127.0.0.1:4711/bus\",\"pace\":180.0}");
    assertThat(pages.origins())
        .containsExactly(
            pages.url("").replaceAll("/$", ""),
            pages.url("").replaceAll("/$", "").replace("127.0.0.1", "localhost"));
  }

  @Test
  void filesOfThePagesAreServed() throws Exception {
    for (String file :
        new String[] {"board.html", "map.html", "board.js", "map.js", "flights.js"}) {
      for (MatchResult found : REFERENCE.matcher(get(file).body()).results().toList()) {
        String path = found.group().replaceAll("^[^\"']*[\"']|[\"'].*$", "").replace("./", "");
        assertThat(get(path).statusCode()).as(file + ": " + path).isEqualTo(200);
      }
    }
    assertThat(get("eventbus/index.js").headers().firstValue("Content-Type"))
        .contains("text/javascript; charset=utf-8");
  }

  @Test
  void servesNothingElse() throws Exception {
    assertThat(get("no-such-page.html").statusCode()).isEqualTo(404);
    assertThat(get("eventbus/").statusCode()).isEqualTo(404);
    assertThat(get("DemoPages.class").statusCode()).isEqualTo(404);
    String host = "Host: " + URI.create(pages.url("")).getAuthority();
    for (String path :
        new String[] {"/../pages/board.js", "/%2e%2e/pages/board.js", "//board.js"}) {
      assertThat(raw("GET " + path + " HTTP/1.1\r\n" + host + "\r\n\r\n"))
          .as(path)
          .isEqualTo("HTTP/1.1 404");
    }
    assertThat(raw("POST /board.html HTTP/1.1\r\n" + host + "\r\nContent-Length: 0\r\n\r\n"))
        .isEqualTo("HTTP/1.1 405");
  }

  @Test
  void aSiteWhoseNameLeadsHereIsRefused() throws Exception {
    assertThat(raw("GET /bus.json HTTP/1.1\r\nHost: rebound.example\r\n\r\n"))
        .isEqualTo("HTTP/1.1 403");
  }
}
