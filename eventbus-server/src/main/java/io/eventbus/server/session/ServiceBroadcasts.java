package io.eventbus.server.session;

import io.eventbus.protocol.ServiceName;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.routing.RoutedSubscription;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Subscribes one session to what is broadcast to the services that it serves. A client cannot
 * subscribe to that by itself. Confined to the loop.
 */
final class ServiceBroadcasts {
  /** What a client is told that tries to. */
  static final String FOR_MEMBERS =
      "what is broadcast to a service is for its members (expected: Register)";

  private static final TopicFilter ALL = TopicFilter.parse(ServiceName.TOPICS + ">");

  private final LoopContext loop;
  private final ClientLink link;
  private final SessionSubscriptions subscriptions;

  /**
   * Makes one without subscriptions.
   *
   * @param subscriptions those of the session, with which they share its limits and end
   */
  ServiceBroadcasts(LoopContext loop, ClientLink link, SessionSubscriptions subscriptions) {
    this.loop = loop;
    this.link = link;
    this.subscriptions = subscriptions;
  }

  /** Whether a filter selects topics that only members of services get. */
  static boolean isTopicOfMembers(TopicFilter filter) {
    return filter.isSystem() && filter.intersects(ALL);
  }

  private static TopicFilter topic(String service) {
    return TopicFilter.parse(ServiceName.broadcastTopic(service));
  }

  /**
   * Says why the client may not have a policy for what is broadcast to a service; null if it may.
   */
  @Nullable String forbidden(String service, Overflow overflow) {
    if (overflow == Overflow.BLOCK && !link.mayBlock()) {
      return "a page in a browser may not hold publishers back (BLOCK) on this bus"
          + " (listen.browser-block; expected: DROP_OLDEST, CONFLATE or DISCONNECT)";
    }
    return subscriptions.forbiddenToBlock(topic(service), overflow);
  }

  /** Takes what a subscription needs, unless a limit forbids it; it is begun afterwards. */
  Joined join(long id, String service, Overflow overflow) {
    RoutedSubscription subscription =
        new RoutedSubscription(link.subscriber(), id, topic(service), null, overflow);
    return new Joined(subscription, subscriptions.takeForService(subscription));
  }

  /** The part of a registration that is a subscription. */
  final class Joined {
    private final RoutedSubscription subscription;
    private final @Nullable String refused;
    private boolean ended;

    private Joined(RoutedSubscription subscription, @Nullable String refused) {
      this.subscription = subscription;
      this.refused = refused;
    }

    /** Which limit forbids it; null for none. */
    @Nullable String refused() {
      return refused;
    }

    /**
     * Begins the subscription.
     *
     * @param known is told when every other bus knows of it, and of what else this bus has told
     *     them before; gets false if some bus did not say so in time. Not called if it has ended
     *     before
     */
    void begin(Consumer<Boolean> known) {
      if (ended || subscriptions.isClosed()) {
        return;
      }
      if (subscriptions.mustWait(subscription.filter(), () -> link.execute(() -> begin(known)))) {
        return;
      }
      subscriptions.beginForService(subscription);
      if (loop.bus.cluster().isAlone()) {
        known.accept(true);
        return;
      }
      loop.bus
          .cluster()
          .afterInterestApplied(
              loop.router.loop(),
              applied -> {
                if (!ended && !subscriptions.isClosed()) {
                  known.accept(applied);
                }
              });
    }

    /** Ends the subscription; what other buses have sent already still comes. */
    void end() {
      ended = true;
      if (loop.bus.cluster().isAlone()) {
        remove();
      } else {
        loop.bus.cluster().afterInboundDelivered(loop.router.loop(), arrived -> remove());
      }
    }

    private void remove() {
      if (subscriptions.isClosed()
          || subscriptions.mustWait(subscription.filter(), () -> link.execute(this::remove))) {
        return;
      }
      subscriptions.endForService(subscription);
    }
  }
}
