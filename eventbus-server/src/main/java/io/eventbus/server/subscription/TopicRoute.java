package io.eventbus.server.subscription;

/**
 * Route of one topic, and the state of the index when it was looked up. It holds a share in the
 * route, which has to be released with {@link SubscriptionIndex#forget}. Confined to one thread.
 */
public class TopicRoute {
  /** Value that is no count of changes: an unknown state never holds. */
  static final long UNKNOWN = -1;

  final String topic;
  Route route;

  /** Stripe of plain filters like the topic, and its count. */
  final int stripe;

  long exact = UNKNOWN;

  /** Stripe of filters with wildcards behind a first token like the topic's. */
  final int firstTokenStripe;

  long firstToken = UNKNOWN;

  /** Count of changes to filters with a wildcard as their first token. */
  long wildcard = UNKNOWN;

  /** Count of {@link SubscriptionIndex#invalidate}. */
  long invalidations = UNKNOWN;

  /** Creates the state of a legal topic whose route is to be looked up in that index. */
  public TopicRoute(String topic, SubscriptionIndex index) {
    this.topic = topic;
    this.route = index.nobody();
    int dot = topic.indexOf('.');
    this.stripe = index.stripe(topic, topic.length());
    this.firstTokenStripe = index.stripe(topic, dot < 0 ? topic.length() : dot);
  }

  /** Returns the topic. */
  public String topic() {
    return topic;
  }

  /** Returns the route as of the last look-up. */
  public Route route() {
    return route;
  }

  /** Returns the count of {@link SubscriptionIndex#invalidate} as of the last look-up. */
  public long invalidations() {
    return invalidations;
  }
}
