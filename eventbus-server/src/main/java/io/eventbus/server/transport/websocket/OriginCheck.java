package io.eventbus.server.transport.websocket;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.config.HostHeader;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Check of the web pages that may connect. A browser names the site of the page (RFC 6455, section
 * 10.2); without this check every page that a user opens could use a bus on that machine or in that
 * network. A Host that equals the page's own site proves nothing if it is a name: its owner can
 * make it resolve to this bus (DNS rebinding). Any thread.
 */
public final class OriginCheck {
  private static final int MAX_SHOWN = 100;
  private static final int HTTP_PORT = 80;
  private static final int HTTPS_PORT = 443;

  /** Interval of log lines for one site: a refused page tries again for as long as it is open. */
  private static final Duration INTERVAL = Duration.ofHours(1);

  private final List<String> allowed;
  private final String listenHost;
  private final RateLimitedLog refusals;

  /**
   * Creates a check.
   *
   * @param allowed sites that may connect besides the bus's own; "*" for all
   */
  public OriginCheck(List<String> allowed, String listenHost) {
    this(
        allowed,
        listenHost,
        new RateLimitedLog(LoggerFactory.getLogger(OriginCheck.class), System::nanoTime, INTERVAL));
  }

  /** Creates a check with a log of refused pages, each site by itself. */
  public OriginCheck(List<String> allowed, String listenHost, RateLimitedLog refusals) {
    this.listenHost = listenHost;
    this.allowed = List.copyOf(allowed);
    this.refusals = refusals;
  }

  /**
   * Returns whether a page may not connect.
   *
   * @param origin the request's Origin, null for a program that is no browser
   * @param adminPort the port of the administration, whose pages are the bus's own; -1 for none
   */
  public boolean isForeign(@Nullable String origin, @Nullable String host, int adminPort) {
    return origin != null && !isOwn(origin, host, adminPort) && !isAllowed(origin);
  }

  /**
   * Logs a page that was refused: the page itself cannot say more than that there is no connection.
   *
   * @param client where the request came from
   */
  public void tellRefused(String origin, Object client) {
    String shown = printable(origin);
    refusals.warn(
        shown,
        "refused a web page of {} that was opened at {}: if it may use this bus, add its site to"
            + " listen.allowed-origins",
        shown,
        client);
  }

  /** Returns the text in one printable line. */
  private static String printable(String text) {
    return text.substring(0, Math.min(text.length(), MAX_SHOWN)).replaceAll("[^!-~]", "?");
  }

  /**
   * Returns whether the page comes from the same host, by a name that cannot be made to resolve to
   * this bus.
   */
  private boolean isOwn(String origin, @Nullable String host, int adminPort) {
    if (host == null || !(isSame(origin, host) || isAdministration(origin, host, adminPort))) {
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

  /**
   * Returns whether the page comes from the administration port, which serves only pages of the
   * bus.
   */
  private static boolean isAdministration(String origin, String host, int adminPort) {
    if (adminPort < 0) {
      return false;
    }
    String name = host.replaceFirst(":[0-9]*$", "");
    // With TLS or without: every page of that port is the bus's.
    return isSite(origin, "http://" + name, adminPort, HTTP_PORT)
        || isSite(origin, "https://" + name, adminPort, HTTPS_PORT);
  }

  /** Compares an origin with a site; a browser leaves the usual port out. */
  private static boolean isSite(String origin, String site, int port, int usualPort) {
    return origin.equalsIgnoreCase(port == usualPort ? site : site + ":" + port);
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
