package io.eventbus.client.internal.connection;

import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Order of the addresses to connect to: first those that the last bus named for a move, then the
 * configured ones in turn, then other buses that the last bus knew, and then from the start.
 * Confined to the conductor.
 *
 * <p>Addresses from a bus are checked: a client that uses TLS to a bus is not sent to an address
 * where its token would be readable on the way.
 */
final class BusUrls {
  /** Maximum number of buses that a bus can announce. */
  static final int MAX_OTHERS = 64;

  /** Maximum length of an address. */
  static final int MAX_CHARS = 1024;

  private static final Logger LOG = LoggerFactory.getLogger(BusUrls.class);

  private final List<URI> configured;
  private final Deque<URI> preferred = new ArrayDeque<>();
  private List<URI> others = List.of();
  private int nextConfigured;
  private int triedConfigured;
  private int triedOthers;

  BusUrls(List<URI> configured) {
    this.configured = configured;
  }

  /** Returns the next address and goes on to the one after it. */
  URI next() {
    URI first = preferred.pollFirst();
    if (first != null) {
      return first;
    }
    if (triedConfigured >= configured.size()) {
      if (triedOthers < others.size()) {
        return others.get(triedOthers++);
      }
      restart();
    }
    triedConfigured++;
    return configured.get(nextConfigured++ % configured.size());
  }

  /** Returns the number of configured addresses that were not tried since the start. */
  int configuredLeft() {
    return Math.max(0, configured.size() - triedConfigured);
  }

  /** Starts over with the configured addresses, because a connection has held. */
  void restart() {
    triedConfigured = 0;
    triedOthers = 0;
  }

  /**
   * Takes the list of other buses from the bus that has greeted this client, in place of the list
   * before.
   */
  void welcomed(URI by, List<String> named) {
    preferred.clear();
    List<URI> known = check(by, named);
    known.removeAll(configured);
    others = known;
  }

  /** Returns the acceptable addresses among those that a bus names for a move. */
  List<URI> move(@Nullable URI by, List<String> named) {
    List<URI> good = check(by, named);
    preferred.clear();
    preferred.addAll(good);
    return good;
  }

  /** Forgets the addresses of a move that failed. */
  void stayed() {
    preferred.clear();
  }

  private static List<URI> check(@Nullable URI by, List<String> named) {
    List<URI> good = new ArrayList<>();
    for (String text : named) {
      if (good.size() == MAX_OTHERS) {
        LOG.debug("{} named {} addresses: {} are used", by, named.size(), MAX_OTHERS);
        break;
      }
      URI url = parse(by, text);
      if (url == null) {
        LOG.debug("{} named an address that is not used", by);
      } else if (!good.contains(url)) {
        good.add(url);
      }
    }
    return good;
  }

  private static @Nullable URI parse(@Nullable URI by, String text) {
    if (text.length() > MAX_CHARS) {
      return null;
    }
    URI url;
    try {
      url = URI.create(text);
    } catch (IllegalArgumentException e) {
      return null;
    }
    boolean secure = "wss".equals(url.getScheme());
    boolean mayBePlain = by != null && "ws".equals(by.getScheme());
    boolean usable =
        (secure || (mayBePlain && "ws".equals(url.getScheme())))
            && url.getHost() != null
            && url.getFragment() == null
            && url.getUserInfo() == null
            && url.getPort() <= 65_535
            && url.getPort() != 0;
    return usable ? url : null;
  }
}
