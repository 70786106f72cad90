package io.eventbus.server.transport;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which web pages may connect. A browser names the site of the page (RFC 6455, section 10.2);
 * without this check every page that somebody opens could use a bus on that machine or in that
 * network. Immutable.
 */
final class OriginCheck {
  private final List<String> allowed;

  OriginCheck(List<String> allowed) {
    this.allowed = List.copyOf(allowed);
  }

  /**
   * Says whether a page may not connect.
   *
   * @param origin the request's Origin, null for a program that is no browser
   * @param host the request's Host
   */
  boolean isForeign(@Nullable String origin, @Nullable String host) {
    return origin != null && !isSame(origin, host) && !isAllowed(origin);
  }

  private static boolean isSame(String origin, @Nullable String host) {
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
