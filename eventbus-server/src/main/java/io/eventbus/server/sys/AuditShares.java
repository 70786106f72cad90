package io.eventbus.server.sys;

import io.eventbus.server.advisory.Advisory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Shares of clients in the audit log's entries in a second, so that one of them cannot hide what
 * others do: so many of one identity, or of one address if nothing is proved, and so many of each
 * of these two kinds together. Not safe for use by several threads.
 */
final class AuditShares {
  /** Maximum of all identities together, and of all addresses. */
  static final int MAX_OF_KIND = 500;

  static final int MAX_OF_ONE = 100;

  private static final Pattern IPV6 = Pattern.compile("[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*");
  private static final int NETWORK_BYTES = 8;

  private final Kind identities = new Kind();
  private final Kind addresses = new Kind();
  private long secondBegan;

  private record Identity(String account, String subject) {}

  /** Shares of one kind; at most as many as entries, so the memory is bounded. */
  private static final class Kind {
    private final Map<Object, Integer> taken = new HashMap<>();
    private int total;

    boolean take(Object source) {
      if (total >= MAX_OF_KIND || taken.getOrDefault(source, 0) >= MAX_OF_ONE) {
        return false;
      }
      total++;
      taken.merge(source, 1, Integer::sum);
      return true;
    }

    void clear() {
      total = 0;
      taken.clear();
    }
  }

  /**
   * Creates the shares of a second that begins.
   *
   * @param now {@link System#nanoTime}
   */
  AuditShares(long now) {
    secondBegan = now;
  }

  /**
   * Takes an entry from its client's share; returns false if that is used up.
   *
   * @param now {@link System#nanoTime}
   */
  boolean take(Advisory advisory, long now) {
    if (now - secondBegan >= TimeUnit.SECONDS.toNanos(1)) {
      secondBegan = now;
      identities.clear();
      addresses.clear();
    }
    if (advisory instanceof Advisory.ClientConnected client) {
      return take(client.account(), client.subject(), client.remoteAddress());
    } else if (advisory instanceof Advisory.ClientExpired client) {
      return take(client.account(), client.subject(), client.remoteAddress());
    } else if (advisory instanceof Advisory.ClientRevoked client) {
      return take(client.account(), client.subject(), client.remoteAddress());
    } else if (advisory instanceof Advisory.PermissionDenied client) {
      return take(client.account(), client.subject(), client.remoteAddress());
    } else if (advisory instanceof Advisory.ClientRefused client) {
      return take("", "", client.remoteAddress());
    } else if (advisory instanceof Advisory.ClientDisconnected client) {
      return take("", "", client.remoteAddress());
    } else if (advisory instanceof Advisory.AdminAction caller) {
      return take(caller.callerAccount(), caller.caller(), caller.remoteAddress());
    }
    return addresses.take(advisory.type());
  }

  private boolean take(String account, String subject, String remoteAddress) {
    boolean isStranger = subject.isEmpty() && account.isEmpty();
    return isStranger
        ? addresses.take(network(remoteAddress))
        : identities.take(new Identity(account, subject));
  }

  /** Returns the address without the port; of IPv6 the /64, which usually one client has. */
  static String network(String remoteAddress) {
    int port = remoteAddress.lastIndexOf(':');
    String text =
        remoteAddress
            .substring(remoteAddress.indexOf('/') + 1, port < 0 ? remoteAddress.length() : port)
            .replaceAll("[\\[\\]]|%.*", "");
    if (!IPV6.matcher(text).matches()) {
      return text;
    }
    try {
      byte[] bytes = InetAddress.getByName(text).getAddress();
      return HexFormat.of().formatHex(Arrays.copyOf(bytes, Math.min(bytes.length, NETWORK_BYTES)));
    } catch (UnknownHostException e) {
      return text;
    }
  }
}
