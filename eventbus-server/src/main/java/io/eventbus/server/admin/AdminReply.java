package io.eventbus.server.admin;

import io.eventbus.server.view.Json;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Answer of the administration port. */
record AdminReply(int status, Object body, Map<String, List<String>> headers) {
  /** Date format of RFC 9110, section 5.6.7. */
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  AdminReply(int status, Object body) {
    this(status, body, Map.of());
  }

  private static final String DOWNLOAD_TYPE = "application/octet-stream";

  /** Answer that is written piece by piece, as bytes. */
  @FunctionalInterface
  interface Download {
    void writeTo(OutputStream out) throws IOException;
  }

  static AdminReply ok(Object body) {
    return new AdminReply(200, body);
  }

  static AdminReply error(HttpFailure failure) {
    return new AdminReply(
        failure.status(),
        Map.of(
            "error",
            Map.of("code", failure.code(), "message", String.valueOf(failure.getMessage()))),
        failure.headers());
  }

  /**
   * Creates a response that is written at once: of a download only without its body.
   *
   * @throws UncheckedIOException if the body is of a type that has no JSON
   */
  FullHttpResponse whole(boolean isHead, boolean keeps) {
    if (body instanceof Download) {
      FullHttpResponse empty =
          new DefaultFullHttpResponse(
              HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), Unpooled.EMPTY_BUFFER);
      write(empty.headers(), DOWNLOAD_TYPE, keeps);
      return empty;
    }
    boolean isText = body instanceof String;
    byte[] octets = isText ? ((String) body).getBytes(StandardCharsets.UTF_8) : json(body);
    ByteBuf content = isHead ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(octets);
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), content);
    write(response.headers(), isText ? BusMetrics.CONTENT_TYPE : "application/json", keeps);
    response.headers().set(HttpHeaderNames.CONTENT_LENGTH, octets.length);
    return response;
  }

  /** Creates the head of a download, whose body follows piece by piece. */
  HttpResponse head(boolean keeps) {
    HttpResponse response =
        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status));
    write(response.headers(), DOWNLOAD_TYPE, keeps);
    return response;
  }

  private void write(HttpHeaders to, String type, boolean keeps) {
    to.set(HttpHeaderNames.DATE, DATE.format(Instant.now()));
    to.set(HttpHeaderNames.CONTENT_TYPE, type);
    to.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
    to.set("X-Content-Type-Options", "nosniff");
    if (!keeps) {
      to.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    }
    headers.forEach(to::set);
  }

  private static byte[] json(Object body) {
    byte[] json;
    try {
      json = Json.write(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    byte[] line = Arrays.copyOf(json, json.length + 1);
    line[json.length] = '\n';
    return line;
  }
}
