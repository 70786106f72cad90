package io.eventbus.server.transport;

import io.eventbus.server.config.HostHeader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which web pages may connect. A browser names the site of the page (RFC 6455, section 10.2);
 * without this check every page that somebody opens could use a bus on that machine or in that
 * network. That the request's Host is the page's own site proves nothing where it is a name:
 * whoever owns the name can make it lead here (DNS rebinding). Immutable.
 */
final class OriginCheck {
  private final List<String> allowed;
  private final String listenHost;

  OriginCheck(List<String> allowed, String listenHost) {
    this.listenHost = listenHost;
    this.allowed = List.copyOf(allowed);
  }

  /**
   * Says whether a page may not connect.
   *
   * @param origin the request's Origin, null for a program that is no browser
   * @param host the request's Host
   */
  boolean isForeign(@Nullable String origin, @Nullable String host) {
    return origin != null && !isOwn(origin, host) && !isAllowed(origin);
  }

  /** The page comes from the same host, by a name that nobody can make lead here. */
  private boolean isOwn(String origin, @Nullable String host) {
    if (host == null || !isSame(origin, host)) {
      return false;
    }
    HostHeader named = HostHeader.of(host);
    return named.isLoopback() || named.isAddress() || named.host().equalsIgnoreCase(listenHost);
  }

  private static boolean isSame(String origin, String host) {
    int scheme = origin.indexOf("://");
    String site = scheme < 0 ? origin : origin.substring(scheme + 3);
    return site.equalsIgnoreCase(host);
  }

  private boolean isAllowed(String origin) {
    for (String one : allowed) {
      if (one.equals("*") || one.equalsIgnoreCase(origin)) {
        return true;
      }
    }
    return false;
  }
}
