package io.eventbus.server.session;

import io.eventbus.protocol.ServiceName;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.queue.Outbound;
import io.eventbus.server.subscription.RoutedSubscription;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Subscribes one session to the broadcasts of the services that it serves. A client cannot
 * subscribe to these itself. Confined to the loop.
 */
final class ServiceBroadcasts {
  /** Error text for a client that tries to. */
  static final String FOR_MEMBERS =
      "broadcasts of a service are for its members (expected: Register)";

  private static final TopicFilter ALL = TopicFilter.parse(ServiceName.TOPICS + ">");

  private final LoopContext loop;
  private final Outbound out;
  private final ConnectionControl connection;
  private final SessionSubscriptions subscriptions;

  /**
   * Creates an empty set of broadcast subscriptions.
   *
   * @param subscriptions those of the session, which share its limits and end
   */
  ServiceBroadcasts(
      LoopContext loop,
      Outbound out,
      ConnectionControl connection,
      SessionSubscriptions subscriptions) {
    this.loop = loop;
    this.out = out;
    this.connection = connection;
    this.subscriptions = subscriptions;
  }

  /** Returns whether a filter selects topics that only members of services get. */
  static boolean isTopicOfMembers(TopicFilter filter) {
    return filter.isSystem() && filter.intersects(ALL);
  }

  private static TopicFilter topic(String service) {
    return TopicFilter.parse(ServiceName.broadcastTopic(service));
  }

  /**
   * Returns why the client may not use an overflow policy for broadcasts of a service; null if it
   * may.
   */
  @Nullable String forbidden(String service, Overflow overflow) {
    if (overflow == Overflow.BLOCK && !connection.mayBlock()) {
      return "a page in a browser may not stall publishers (BLOCK) on this bus"
          + " (listen.browser-block; expected: DROP_OLDEST, CONFLATE or DISCONNECT)";
    }
    return subscriptions.forbiddenToBlock(topic(service), overflow);
  }

  /**
   * Acquires the resources of a subscription, unless a limit forbids it; {@link Joined#begin}
   * starts it.
   */
  Joined join(long id, String service, Overflow overflow) {
    RoutedSubscription subscription =
        new RoutedSubscription(out, id, topic(service), null, overflow);
    return new Joined(subscription, subscriptions.acquireForService(subscription));
  }

  /** Subscription that belongs to a registration. */
  final class Joined {
    private final RoutedSubscription subscription;
    private final @Nullable String refused;
    private boolean ended;

    private Joined(RoutedSubscription subscription, @Nullable String refused) {
      this.subscription = subscription;
      this.refused = refused;
    }

    /** Returns the limit that forbids the subscription; null for none. */
    @Nullable String refused() {
      return refused;
    }

    /**
     * Starts the subscription.
     *
     * @param known called when every peer knows it and everything that this bus has announced
     *     before; gets false if a peer did not confirm in time. Not called if the subscription has
     *     ended before
     */
    void begin(Consumer<Boolean> known) {
      if (ended || subscriptions.isClosed()) {
        return;
      }
      if (subscriptions.mustWait(
          subscription.filter(), () -> connection.execute(() -> begin(known)))) {
        return;
      }
      subscriptions.beginForService(subscription);
      if (loop.bus.cluster().isAlone()) {
        known.accept(true);
        return;
      }
      loop.bus
          .cluster()
          .whenInterestPropagated(
              loop.router.loop(),
              applied -> {
                if (!ended && !subscriptions.isClosed()) {
                  known.accept(applied);
                }
              });
    }

    /** Ends the subscription; events that peers have sent already still arrive. */
    void end() {
      ended = true;
      if (loop.bus.cluster().isAlone()) {
        remove();
      } else {
        loop.bus.cluster().whenInboundDelivered(loop.router.loop(), arrived -> remove());
      }
    }

    private void remove() {
      if (subscriptions.isClosed()
          || subscriptions.mustWait(
              subscription.filter(), () -> connection.execute(this::remove))) {
        return;
      }
      subscriptions.endForService(subscription);
    }
  }
}
