package io.eventbus.server.session;

import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.ServiceName;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.PublishDecisions;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Broadcasts of one session to the members of services. A broadcast is an event of a system topic
 * like any other, except for who may publish it. Confined to the loop.
 */
final class SessionBroadcasts {
  private static final byte[] TOPICS = ServiceName.TOPICS.getBytes(StandardCharsets.US_ASCII);

  private final LoopContext loop;
  private final Denials denials;

  // A client without permissions may broadcast nothing.
  private FilterRules allowed = Permissions.NONE.of(Action.BROADCAST);
  // Allocated with the first broadcast of a client that may not broadcast to every service.
  private @Nullable PublishDecisions decisions;

  /**
   * Creates the broadcasting state of a session.
   *
   * @param denials reports what the client may not do
   */
  SessionBroadcasts(LoopContext loop, Denials denials) {
    this.loop = loop;
    this.denials = denials;
  }

  /** Sets the permissions that apply from now on. */
  void permit(Permissions permissions) {
    allowed = permissions.of(Action.BROADCAST);
    decisions = null;
  }

  /** Returns whether a frame is a broadcast. */
  boolean isBroadcast(ByteBuffer in, PublishView publish) {
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

  /**
   * Looks up the recipients of a broadcast; returns null, or the problem with the service's name.
   */
  @Nullable String select(SubscriptionIndex account, ByteBuffer in, PublishView publish) {
    // Topics of other names, which no service can have, have no subscribers.
    return in.get(publish.topicStart() + TOPICS.length) == '$'
        ? ServiceName.problem(publish.topic().substring(ServiceName.TOPICS.length()))
        : loop.router.selectAny(account, in, publish);
  }

  /** Returns whether the client may broadcast to the selected service. */
  boolean mayPublishSelected() {
    if (allowed.allowEverything()) {
      return true;
    }
    PublishDecisions created = decisions;
    if (created == null) {
      created = new PublishDecisions(allowed, ServiceName.TOPICS.length());
      decisions = created;
    }
    boolean may = created.allow(loop.router.selectedNumber(), loop.router.selectedTopic());
    loop.budget().spend(created.takeWork());
    return may;
  }

  /**
   * Reports the deciding rule to the operator, and returns the refusal for the client, which names
   * no rule.
   */
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
