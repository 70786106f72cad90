package io.eventbus.server.admin;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Request without its body, which nothing here reads. Immutable.
 *
 * @param parts the path between its slashes, the first one empty; decoded
 * @param parameters the query, not decoded; null for none
 * @param authorization the header {@code Authorization}; null for none
 * @param client its address
 */
record AdminRequest(
    String method,
    String target,
    List<String> parts,
    @Nullable String parameters,
    List<String> hosts,
    @Nullable String authorization,
    InetSocketAddress client) {
  /**
   * Maximum of parts of a path, more than any resource has; the last part of a longer path is the
   * rest of it.
   */
  static final int MAX_PARTS = 12;

  /**
   * Reads the head of a request.
   *
   * @throws HttpFailure if its target is malformed
   */
  static AdminRequest of(HttpRequest head, InetSocketAddress client) throws HttpFailure {
    URI uri;
    try {
      uri = new URI(head.uri());
    } catch (URISyntaxException e) {
      throw malformed();
    }
    String path = uri.getPath();
    if (path == null) {
      throw malformed();
    }
    return new AdminRequest(
        head.method().name(),
        head.uri(),
        List.of(path.split("/", MAX_PARTS)),
        uri.getRawQuery(),
        head.headers().getAll(HttpHeaderNames.HOST),
        head.headers().get(HttpHeaderNames.AUTHORIZATION),
        client);
  }

  private static HttpFailure malformed() {
    return HttpFailure.badRequest("request target: malformed (expected: a path, as in RFC 3986)");
  }

  boolean isHead() {
    return method.equals("HEAD");
  }

  /** Returns the method of the route: HEAD is GET without the body (RFC 9110, section 9.3.2). */
  String routeMethod() {
    return isHead() ? "GET" : method;
  }

  /** Returns the parameters, of which only these are known. */
  QueryString query(Set<String> known) throws HttpFailure {
    return new QueryString(parameters, known);
  }

  /** Returns a text without the credentials. */
  @Override
  public String toString() {
    return method + " " + target + " of " + client;
  }
}
