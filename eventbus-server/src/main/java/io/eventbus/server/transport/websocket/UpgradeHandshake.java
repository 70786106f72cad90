package io.eventbus.server.transport.websocket;

import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Opening handshake of RFC 6455, section 4.2, as a pure function from a request to an answer. */
public final class UpgradeHandshake {
  public static final String AVRO = "eventbus.v1.avro";

  /** Status for a page of another site. */
  public static final int FOREIGN = 403;

  /**
   * Headers that let a page read an answer. A browser tells a page nothing of an upgrade that
   * failed, but lets it read the answer to a plain GET that says so. These answers contain nothing
   * that a page may not know.
   */
  public static final Map<String, String> FOR_PAGES =
      Map.of("Access-Control-Allow-Origin", "*", "Cache-Control", "no-store");

  private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

  /** Length of 16 bytes in base64. */
  private static final int KEY_LENGTH = 24;

  /** Endpoint of a request. */
  public enum Endpoint {
    BUS,
    ECHO
  }

  /** Answer to a request. */
  public sealed interface Answer {}

  /**
   * Switch to WebSocket.
   *
   * @param subprotocol the agreed one, null for none
   * @param extensions the answer to the offered extensions, null for none
   */
  public record Upgrade(
      Endpoint endpoint, @Nullable String subprotocol, @Nullable String extensions, String accept)
      implements Answer {}

  /** Page, after which the connection is closed. */
  public record Page(int status, String body, Map<String, String> headers) implements Answer {
    /** Returns the page with another header. */
    public Page with(String name, String value) {
      Map<String, String> more = new TreeMap<>(headers);
      more.put(name, value);
      return new Page(status, body, more);
    }
  }

  private final String busPath;
  private final @Nullable String echoPath;
  private final boolean compression;
  private final OriginCheck origins;

  public UpgradeHandshake(
      String busPath, @Nullable String echoPath, boolean compression, OriginCheck origins) {
    this.origins = origins;
    this.busPath = busPath;
    this.echoPath = echoPath;
    this.compression = compression;
  }

  /** Returns the check of pages, which also reports those that are refused. */
  public OriginCheck origins() {
    return origins;
  }

  /**
   * Answers a request.
   *
   * @param adminPort the port of the administration, whose pages may connect; -1 for none
   */
  public Answer answer(HttpRequest request, int adminPort) {
    if (!request.decoderResult().isSuccess()) {
      return unreadable(request.decoderResult());
    }
    if (HttpVersion.HTTP_1_1.equals(request.protocolVersion())) {
      // RFC 9112, section 3.2.
      int hosts = request.headers().getAll(HttpHeaderNames.HOST).size();
      if (hosts != 1) {
        return page(400, "Host: " + hosts + " of them (expected: one; RFC 9112, section 3.2).");
      }
    }
    Endpoint endpoint = endpoint(request.uri());
    if (endpoint == null) {
      return page(404, "There is nothing here. The bus is at " + busPath + ".");
    }
    if (!HttpMethod.GET.equals(request.method())) {
      return page(405, "Only GET is understood here.").with("Allow", "GET");
    }
    if (!HttpVersion.HTTP_1_1.equals(request.protocolVersion())) {
      return page(400, "HTTP/1.1 is needed for an upgrade to WebSocket.");
    }
    if (!hasToken(request, HttpHeaderNames.UPGRADE, "websocket")
        || !hasToken(request, HttpHeaderNames.CONNECTION, "upgrade")) {
      return plain(request, adminPort);
    }
    return upgrade(request, endpoint, adminPort);
  }

  /** Answers a request that is no upgrade: whether an upgrade would be refused, and why. */
  private Page plain(HttpRequest request, int adminPort) {
    Page refusal = refusedOrigin(request, adminPort);
    return refusal != null
        ? refusal
        : page(
            200,
            "This is an event bus. It speaks WebSocket (RFC 6455) with the sub-protocol "
                + AVRO
                + ".\n"
                + "Connect a client to ws://<this address>"
                + busPath
                + ".");
  }

  private @Nullable Page refusedOrigin(HttpRequest request, int adminPort) {
    List<String> pages = request.headers().getAll(HttpHeaderNames.ORIGIN);
    if (pages.size() > 1) {
      return page(
          400,
          "Origin: " + pages.size() + " of them (expected: at most one; RFC 6454, section 7.3).");
    }
    String host = request.headers().get(HttpHeaderNames.HOST);
    return origins.isForeign(origin(request), host, adminPort)
        ? page(
            FOREIGN,
            "Origin: a page of another site may not use this bus"
                + " (expected: the bus's own, or one in listen.allowed-origins).")
        : null;
  }

  /**
   * Returns the site of the page that makes a request; null for a program that is no browser. A
   * plain GET of a page's own site has no Origin, but an upgrade from there would have one.
   */
  public static @Nullable String origin(HttpRequest request) {
    String origin = request.headers().get(HttpHeaderNames.ORIGIN);
    return origin == null && hasToken(request, "Sec-Fetch-Site", "same-origin")
        ? "http://" + request.headers().get(HttpHeaderNames.HOST)
        : origin;
  }

  /**
   * Returns whether a request comes from a browser: all browsers name the site of the page, and
   * call themselves Mozilla. Libraries may do either, Tyrus for instance sends an Origin.
   */
  public static boolean isOfBrowser(HttpRequest request) {
    String agent = request.headers().get(HttpHeaderNames.USER_AGENT);
    return origin(request) != null && agent != null && agent.startsWith("Mozilla/");
  }

  /** Refuses a request that the decoder could not make sense of. */
  public static Page unreadable(DecoderResult failed) {
    return page(400, "The request could not be read: " + failed.cause().getMessage());
  }

  private Answer upgrade(HttpRequest request, Endpoint endpoint, int adminPort) {
    if (!hasToken(request, HttpHeaderNames.SEC_WEBSOCKET_VERSION, "13")) {
      return page(426, "Only version 13 of WebSocket is spoken here.")
          .with("Sec-WebSocket-Version", "13");
    }
    HttpHeaders headers = request.headers();
    Page refusal = refusedOrigin(request, adminPort);
    if (refusal != null) {
      return refusal;
    }
    List<String> keys = headers.getAll(HttpHeaderNames.SEC_WEBSOCKET_KEY);
    if (keys.size() > 1) {
      return page(
          400,
          "Sec-WebSocket-Key: "
              + keys.size()
              + " of them (expected: one; RFC 6455, section 11.3.1).");
    }
    String key = headers.get(HttpHeaderNames.SEC_WEBSOCKET_KEY);
    if (key == null || !isKey(key.strip())) {
      return page(
          400,
          "Sec-WebSocket-Key: "
              + (key == null ? "none" : "not a key")
              + " (expected: 16 bytes in base64).");
    }
    // Unlike the other tokens it is compared with its case: the client must find in the answer what
    // it has sent (RFC 6455, section 4.1).
    String subprotocol =
        tokens(request, HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL).anyMatch(AVRO::equals)
            ? AVRO
            : null;
    if (endpoint == Endpoint.BUS && subprotocol == null) {
      return page(400, "Sec-WebSocket-Protocol: none in common (expected: " + AVRO + ").");
    }
    String extensions =
        compression
            ? PermessageDeflate.negotiate(
                request.headers().getAll(HttpHeaderNames.SEC_WEBSOCKET_EXTENSIONS))
            : null;
    return new Upgrade(endpoint, subprotocol, extensions, accept(key.strip()));
  }

  private @Nullable Endpoint endpoint(String uri) {
    int query = uri.indexOf('?');
    String path = query < 0 ? uri : uri.substring(0, query);
    if (path.equals(busPath)) {
      return Endpoint.BUS;
    }
    return path.equals(echoPath) ? Endpoint.ECHO : null;
  }

  private static Page page(int status, String body) {
    return new Page(status, body, FOR_PAGES);
  }

  private static boolean hasToken(HttpRequest request, CharSequence name, String token) {
    return tokens(request, name).anyMatch(token::equalsIgnoreCase);
  }

  /** Returns the tokens of header values, which may take several lines. */
  private static Stream<String> tokens(HttpRequest request, CharSequence name) {
    return request.headers().getAll(name).stream()
        .flatMap(value -> Arrays.stream(value.split(",", -1)))
        .map(String::strip);
  }

  private static boolean isKey(String key) {
    try {
      // The decoder would also do without the padding.
      return key.length() == KEY_LENGTH && Base64.getDecoder().decode(key).length == 16;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  public static String accept(String key) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-1")
              .digest((key + GUID).getBytes(StandardCharsets.US_ASCII));
      return Base64.getEncoder().encodeToString(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
