package io.eventbus.server.admission;

import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Client's address from the headers of a proxied request: {@code Forwarded} (RFC 7239) or {@code
 * X-Forwarded-For}. Every proxy appends the address of its own client; entries before that of the
 * first proxy that is not ours may be forged.
 */
public final class ForwardedClient {
  private final ProxyNetworks proxies;

  /** Creates a reader. */
  public ForwardedClient(ProxyNetworks proxies) {
    this.proxies = proxies;
  }

  /**
   * Thrown if the headers do not name one client: they name two, of whom one may be forged by the
   * client, or the last entry is no address.
   */
  public static final class UnusableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnusableException(String message) {
      super(message);
    }
  }

  /**
   * Returns the client of a request that came from a proxy.
   *
   * @return the last address that is not a proxy's; the first of all if all are proxies'; empty if
   *     the proxy named none. A port of 0 is not known.
   * @throws UnusableException if the headers name two clients, or the proxy's entry is no address
   */
  public Optional<InetSocketAddress> find(List<String> forwarded, List<String> forwardedFor)
      throws UnusableException {
    InetSocketAddress first = last("Forwarded", forwardedNodes(forwarded));
    InetSocketAddress second = last("X-Forwarded-For", addresses(forwardedFor));
    if (first != null && second != null && !first.getAddress().equals(second.getAddress())) {
      throw new UnusableException(
          "Forwarded and X-Forwarded-For name different clients (expected: the proxy sets one of"
              + " them and removes the other)");
    }
    return Optional.ofNullable(first != null ? first : second);
  }

  private @Nullable InetSocketAddress last(String header, List<String> nodes)
      throws UnusableException {
    InetSocketAddress found = null;
    // Taking the proxy for the client instead would give the client the proxy's rights.
    String added = nodes.isEmpty() ? "" : nodes.get(nodes.size() - 1);
    if (!added.isEmpty() && address(added) == null) {
      throw new UnusableException(
          "the last client in " + header + " is no address (expected: one that the proxy has set)");
    }
    for (int i = nodes.size() - 1; i >= 0; i--) {
      InetSocketAddress node = address(nodes.get(i));
      if (node == null) {
        // Unknown, or hidden on purpose: no proxy of ours vouches for entries before it.
        return found;
      }
      found = node;
      if (!proxies.contains(node.getAddress())) {
        return found;
      }
    }
    return found;
  }

  /** Returns the values of {@code for} of all elements; an element without one is an empty text. */
  private static List<String> forwardedNodes(List<String> headers) {
    List<String> nodes = new ArrayList<>();
    for (String element : elements(headers)) {
      String node = "";
      for (String pair : split(element, ';')) {
        if (pair.toLowerCase(Locale.ROOT).startsWith("for=")) {
          node = unquoted(pair.substring("for=".length()).strip());
        }
      }
      nodes.add(node);
    }
    return nodes;
  }

  private static String unquoted(String value) {
    return value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"")
        ? value.substring(1, value.length() - 1)
        : value;
  }

  private static List<String> elements(List<String> headers) {
    List<String> all = new ArrayList<>();
    headers.forEach(header -> all.addAll(split(header, ',')));
    return all;
  }

  /**
   * Returns the addresses; in this header nothing is quoted: a quotation mark is the client's
   * invention.
   */
  private static List<String> addresses(List<String> headers) {
    List<String> all = new ArrayList<>();
    for (String header : headers) {
      for (String node : header.split(",", -1)) {
        all.add(node.strip());
      }
    }
    return all;
  }

  /**
   * Splits a text. Separators within quotes do not count, unless quotes are not balanced: then
   * earlier text was forged, so that the proxy's own entry would be taken for a part of it.
   */
  private static List<String> split(String text, char separator) {
    List<String> parts = new ArrayList<>();
    boolean balanced = text.chars().filter(c -> c == '"').count() % 2 == 0;
    boolean quoted = false;
    int from = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' && balanced) {
        quoted = !quoted;
      } else if (c == separator && !quoted) {
        parts.add(text.substring(from, i).strip());
        from = i + 1;
      }
    }
    parts.add(text.substring(from).strip());
    return parts;
  }

  /** Reads {@code 192.0.2.7}, {@code 192.0.2.7:80}, {@code 2001:db8::1} or that in brackets. */
  private static @Nullable InetSocketAddress address(String node) {
    String host = node;
    int port = 0;
    int close = node.indexOf(']');
    int colon = node.lastIndexOf(':');
    boolean bracketed = node.startsWith("[") && close > 0;
    if (bracketed) {
      host = node.substring(1, close);
      port = node.length() == close + 1 ? 0 : port(node.substring(close + 1));
    } else if (colon >= 0 && node.indexOf(':') == colon) {
      host = node.substring(0, colon);
      port = port(node.substring(colon));
    }
    byte[] bytes = NetUtil.createByteArrayFromIpAddressString(host);
    return bytes == null
        ? null
        : new InetSocketAddress(ClientAddress.plain(ClientAddress.literal(bytes)), port);
  }

  /**
   * Returns the port; it may be hidden behind a name (RFC 7239, section 6.2): then it is not known.
   */
  private static int port(String text) {
    return text.matches(":\\d{1,5}") ? Math.min(Integer.parseInt(text.substring(1)), 65_535) : 0;
  }
}
