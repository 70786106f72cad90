package io.eventbus.server.admission;

import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The client's address as proxies tell it in a request's headers: {@code Forwarded} (RFC 7239) or
 * {@code X-Forwarded-For}. Every proxy adds where it got the request from at the end; what stands
 * before the word of the first proxy that is not ours may be made up.
 */
public final class ForwardedClient {
  private final ProxyNetworks proxies;

  /**
   * Makes one.
   *
   * @param proxies whose word is taken
   */
  public ForwardedClient(ProxyNetworks proxies) {
    this.proxies = proxies;
  }

  /** The two headers name different clients: one of them may come from the client itself. */
  public static final class ContradictionException extends Exception {
    private static final long serialVersionUID = 1L;

    ContradictionException(String message) {
      super(message);
    }
  }

  /**
   * Finds the client of a request that came from a proxy.
   *
   * @param forwarded the values of {@code Forwarded}, in their order
   * @param forwardedFor the values of {@code X-Forwarded-For}, in their order
   * @return the last address that is not a proxy's; the first of all if all are proxies'; empty if
   *     the proxy did not tell one. A port of 0 is not known.
   * @throws ContradictionException if the headers name two clients
   */
  public Optional<InetSocketAddress> find(List<String> forwarded, List<String> forwardedFor)
      throws ContradictionException {
    InetSocketAddress first = last(forwardedNodes(forwarded));
    InetSocketAddress second = last(list(forwardedFor, ','));
    if (first != null && second != null && !first.getAddress().equals(second.getAddress())) {
      throw new ContradictionException(
          "Forwarded and X-Forwarded-For name different clients (expected: the proxy sets one of"
              + " them and removes the other)");
    }
    return Optional.ofNullable(first != null ? first : second);
  }

  private @Nullable InetSocketAddress last(List<String> nodes) {
    InetSocketAddress found = null;
    for (int i = nodes.size() - 1; i >= 0; i--) {
      InetSocketAddress node = address(nodes.get(i));
      if (node == null) {
        // Unknown, or hidden on purpose: nobody of ours vouches for what stands before.
        return found;
      }
      found = node;
      if (!proxies.contains(node.getAddress())) {
        return found;
      }
    }
    return found;
  }

  /** The values of {@code for} of all elements; an element without one is an empty text. */
  private static List<String> forwardedNodes(List<String> headers) {
    List<String> nodes = new ArrayList<>();
    for (String element : list(headers, ',')) {
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

  private static List<String> list(List<String> headers, char separator) {
    List<String> all = new ArrayList<>();
    headers.forEach(header -> all.addAll(split(header, separator)));
    return all;
  }

  /** Separators within quotes do not count. */
  private static List<String> split(String text, char separator) {
    List<String> parts = new ArrayList<>();
    boolean quoted = false;
    int from = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"') {
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

  /** A port may be hidden behind a name (RFC 7239, section 6.2): then it is not known. */
  private static int port(String text) {
    return text.matches(":\\d{1,5}") ? Math.min(Integer.parseInt(text.substring(1)), 65_535) : 0;
  }
}
