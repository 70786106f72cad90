package io.eventbus.server.routing;

/**
 * The route of one topic, and what the index was like when it was looked up. It holds a share in
 * the route: whoever drops it gives that back with {@link SubscriptionIndex#forget}. Confined to
 * one thread.
 */
class TopicRoute {
  /** No count of changes: what is not known never holds. */
  static final long UNKNOWN = -1;

  final String topic;
  Route route;

  /** Where plain filters like the topic are counted, and that count. */
  final int stripe;

  long exact = UNKNOWN;

  /** Where filters with wildcards behind a first token like the topic's are counted. */
  final int firstTokenStripe;

  long firstToken = UNKNOWN;

  /** The count of changes to filters with a wildcard as their first token. */
  long wildcard = UNKNOWN;

  /** The count of {@link SubscriptionIndex#invalidate}. */
  long invalidations = UNKNOWN;

  /** Remembers nothing yet of a legal topic, whose route is to be looked up in that index. */
  TopicRoute(String topic, SubscriptionIndex index) {
    this.topic = topic;
    this.route = index.nobody();
    int dot = topic.indexOf('.');
    this.stripe = index.stripe(topic, topic.length());
    this.firstTokenStripe = index.stripe(topic, dot < 0 ? topic.length() : dot);
  }
}
