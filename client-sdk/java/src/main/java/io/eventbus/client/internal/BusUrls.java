package io.eventbus.client.internal;

import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where to connect to next: first where the last bus sent this client, then the configured
 * addresses in turn, then those of other buses that the last bus knew, and then from the start.
 * Confined to the conductor.
 *
 * <p>What a bus says is checked: a client that speaks TLS to it is not led to where its token would
 * be read on the way.
 */
final class BusUrls {
  /** As many buses as a bus can make known. */
  static final int MAX_OTHERS = 64;

  /** Of one address. */
  static final int MAX_CHARACTERS = 1024;

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

  /** Takes the next address. */
  URI next() {
    URI first = preferred.pollFirst();
    if (first != null) {
      return first;
    }
    if (triedConfigured >= configured.size()) {
      if (triedOthers < others.size()) {
        return others.get(triedOthers++);
      }
      startAnew();
    }
    triedConfigured++;
    return configured.get(nextConfigured++ % configured.size());
  }

  /** How many of the configured addresses were not tried since the start. */
  int configuredLeft() {
    return Math.max(0, configured.size() - triedConfigured);
  }

  /** A connection has held: after it the configured addresses come first again. */
  void startAnew() {
    triedConfigured = 0;
    triedOthers = 0;
  }

  /** A bus has greeted this client and says which others there are; what was known is forgotten. */
  void welcomed(URI by, List<String> named) {
    preferred.clear();
    List<URI> known = check(by, named);
    known.removeAll(configured);
    others = known;
  }

  /** A bus asks to go on at one of these. */
  List<URI> changeBus(@Nullable URI by, List<String> named) {
    List<URI> good = check(by, named);
    preferred.clear();
    preferred.addAll(good);
    return good;
  }

  /** What a bus asked for came to nothing. */
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
    if (text.length() > MAX_CHARACTERS) {
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
