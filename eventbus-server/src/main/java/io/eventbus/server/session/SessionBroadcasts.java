package io.eventbus.server.session;

import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.ServiceName;
import io.eventbus.server.routing.SubscriptionIndex;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.PublishDecisions;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What one session publishes to all members of a service. That is an event of a topic of the system
 * like any other, but for who may publish it. Confined to the loop.
 */
final class SessionBroadcasts {
  private static final byte[] TOPICS = ServiceName.TOPICS.getBytes(StandardCharsets.US_ASCII);

  private final LoopContext loop;
  private final Denials denials;

  // Who has no permissions yet may publish nothing.
  private FilterRules allowed = Permissions.NONE.of(Action.BROADCAST);
  // Made with the first broadcast of a client that may not broadcast to every service.
  private @Nullable PublishDecisions decisions;

  /**
   * Makes one that nothing was published with.
   *
   * @param denials is told what the client may not do
   */
  SessionBroadcasts(LoopContext loop, Denials denials) {
    this.loop = loop;
    this.denials = denials;
  }

  /** Says which services the client may broadcast to from now on. */
  void permit(Permissions permissions) {
    allowed = permissions.of(Action.BROADCAST);
    decisions = null;
  }

  /** Whether a frame is for the members of a service. */
  boolean isOne(ByteBuffer in, PublishView publish) {
    int start = publish.topicStart();
    if (publish.topicLength() <= TOPICS.length) {
      return false;
    }
    for (int i = 0; i < TOPICS.length; i++) {
      if (in.get(start + i) != TOPICS[i]) {
        return false;
      }
    }
    return true;
  }

  /** Looks up who gets the frame; null, or what is wrong with the name of the service. */
  @Nullable String select(SubscriptionIndex account, ByteBuffer in, PublishView publish) {
    // Other names that no service can have are topics that nobody gets anything of.
    return in.get(publish.topicStart() + TOPICS.length) == '$'
        ? ServiceName.problem(publish.topic().substring(ServiceName.TOPICS.length()))
        : loop.router.selectAny(account, in, publish);
  }

  /** Whether the client may broadcast to the service that was looked up. */
  boolean mayPublishSelected() {
    if (allowed.allowEverything()) {
      return true;
    }
    PublishDecisions made = decisions;
    if (made == null) {
      made = new PublishDecisions(allowed, ServiceName.TOPICS.length());
      decisions = made;
    }
    boolean may = made.allow(loop.router.selectedNumber(), loop.router.selectedTopic());
    loop.budget().spend(made.takeWork());
    return may;
  }

  /** Tells the operator which rule it was, and the client only what it may not do. */
  String forbidden() {
    String service = loop.router.selectedTopic().substring(ServiceName.TOPICS.length());
    denials.denied(Action.BROADCAST, service, () -> allowed.explain(service));
    return "broadcasts to '"
        + service
        + "' are not allowed to this client ("
        + allowed.origin()
        + "; expected: a service that is)";
  }
}
