package io.eventbus.server.federation.interest;

import org.jspecify.annotations.Nullable;

/**
 * How a service is told of among the filters: as a group of members of its topic, which is the
 * system's. A client that subscribes so is not told of. Stateless.
 */
final class ServiceEntry {
  private static final String TOPIC = "$SRV.";
  private static final String MEMBERS = "+";

  private ServiceEntry() {}

  static LocalInterest.Key key(String account, String service) {
    return new LocalInterest.Key(account, TOPIC + service, MEMBERS);
  }

  /** The service that an entry tells of; null if it is one of subscribers. */
  static @Nullable String service(LocalInterest.Key key) {
    return MEMBERS.equals(key.group()) && key.filter().startsWith(TOPIC)
        ? key.filter().substring(TOPIC.length())
        : null;
  }
}
