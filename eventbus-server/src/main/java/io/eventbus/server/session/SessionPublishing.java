package io.eventbus.server.session;

import io.eventbus.journal.Journals;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.durable.JournalConsumers;
import io.eventbus.server.queue.Outbound;
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.routing.PublisherStall;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.PublishDecisions;
import io.eventbus.server.stats.SingleWriterCounter;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Publishing state of one session. Confined to its loop except for {@link #events}. */
final class SessionPublishing {
  /** Units of work to deliver a frame to one subscriber, writing to its socket included. */
  private static final int TARGET_UNITS = 4;

  /** Units of work to append a frame to a journal, its answer not included. */
  private static final int APPEND_UNITS = 32;

  /** Bytes that are appended in one unit of work. */
  private static final int APPENDED_BYTES = 64;

  /** Events that are checked in one unit of work. */
  private static final int CHECKED_EVENTS = 16;

  private static final String NOT_DURABLE =
      "the topic is not durable (expected: a durable one for expect, delayMillis, ttlMillis and"
          + " producerName)";

  private final LoopContext loop;
  private final Outbound out;
  private final ConnectionControl connection;
  private final Session session;
  private final Refusal refusal;
  private final Denials denials;
  private final SingleWriterCounter published = new SingleWriterCounter();
  // Allocated with the first frame: most clients never publish.
  private @Nullable PublisherStall stall;
  private boolean awaitsRoom;
  private SubscriptionIndex index;
  private @Nullable ConnectionQuota quotas;

  // A client without permissions may publish nothing.
  private FilterRules allowed = Permissions.NONE.of(Action.PUBLISH);
  private boolean everythingAllowed;
  // Allocated with the first frame of a client that may not publish everything.
  private @Nullable PublishDecisions decisions;
  private final SessionBroadcasts broadcasts;
  // Allocated with the first event of a durable topic.
  private @Nullable DurablePublishing durable;

  /**
   * Creates the publishing state of a session.
   *
   * @param denials reports what the client may not do
   */
  SessionPublishing(
      LoopContext loop,
      Outbound out,
      ConnectionControl connection,
      Session session,
      Refusal refusal,
      Denials denials) {
    this.loop = loop;
    this.out = out;
    this.connection = connection;
    this.session = session;
    this.refusal = refusal;
    this.denials = denials;
    this.broadcasts = new SessionBroadcasts(loop, denials);
    this.index = loop.bus.index();
  }

  /** Sets the index of the client's account. */
  void enter(SubscriptionIndex account) {
    index = account;
  }

  /** Sets the permissions that apply from now on. */
  void permit(Permissions permissions) {
    allowed = permissions.of(Action.PUBLISH);
    everythingAllowed = allowed.allowEverything();
    decisions = null;
    broadcasts.permit(permissions);
  }

  /** Sets the quotas that apply from now on; null for none. */
  void share(@Nullable ConnectionQuota share) {
    quotas = share;
  }

  /**
   * Checks, routes and confirms a frame. Returns false if it has to wait; then nothing was done.
   *
   * @throws MalformedFrameException if the bytes are not a {@code Publish}
   */
  boolean publish(
      ByteBuffer in,
      int from,
      int to,
      long producer,
      long receivedAt,
      long nowNanos,
      Runnable retry) {
    ConnectionQuota share = quotas;
    if (share != null && mustWait(share, retry)) {
      return false;
    }
    awaitsRoom = false;
    PublishView publish = loop.publish;
    try {
      publish.read(in, from, to, loop.frameLimits);
    } catch (MalformedFrameException e) {
      if (!e.isTooBig()) {
        throw e;
      }
      // As if all its events had the minimum size.
      loop.budget().spend((to - from) / (4 * CHECKED_EVENTS));
      refuse(ErrorCode.TOO_BIG, String.valueOf(e.getMessage()), publish);
      return true;
    }
    loop.budget().spend(publish.eventCount() / CHECKED_EVENTS);
    boolean broadcast = broadcasts.isBroadcast(in, publish);
    String problem =
        broadcast ? broadcasts.select(index, in, publish) : loop.router.select(index, in, publish);
    if (problem != null) {
      refuse(ErrorCode.ILLEGAL_TOPIC, problem, publish);
      return true;
    }
    int journal = broadcast ? 0 : loop.router.selectedJournal();
    loop.budget().spend(loop.router.takeLookupWork());
    if (journal == 0 && publish.needsDurable()) {
      refuse(ErrorCode.NO_JOURNAL, NOT_DURABLE, publish);
      return true;
    }
    if (broadcast
        ? !broadcasts.mayPublishSelected()
        : !everythingAllowed && !mayPublishSelected()) {
      String why = broadcast ? broadcasts.forbidden() : forbidden(publish);
      refuse(ErrorCode.FORBIDDEN, why, publish);
      return true;
    }
    if (journal != 0) {
      return store(journal, in, publish, to - from, receivedAt, retry);
    }
    awaitsRoom = loop.router.mustWait(producer, retry);
    if (awaitsRoom) {
      loop.stats.publishersStopped.add(1);
      loop.router.stalled(stall());
      return false;
    }
    loop.budget()
        .spend(TARGET_UNITS * loop.router.deliver(in, publish, producer, receivedAt, nowNanos));
    loop.router.published(stall());
    published.add(publish.eventCount());
    if (share != null) {
      share.published(publish.eventCount(), to - from, loop.budget().now());
    }
    if (publish.confirm()) {
      confirm(in, publish, nowNanos);
    }
    return true;
  }

  /** Appends a frame to a journal; returns false if it has to wait. */
  private boolean store(
      int journal, ByteBuffer in, PublishView publish, int bytes, long receivedAt, Runnable retry) {
    Journals journals = loop.bus.journals();
    JournalConsumers consumers = loop.bus.consumers();
    if (journals == null || consumers == null) {
      throw new IllegalStateException("a durable topic of a bus without journals");
    }
    DurablePublishing created = durable;
    if (created == null) {
      created = new DurablePublishing(loop, journals, consumers.publishRoom(), session, connection);
      durable = created;
    }
    awaitsRoom = !created.publish(journal, in, publish, bytes, receivedAt, retry);
    if (awaitsRoom) {
      loop.stats.publishersStopped.add(1);
      return false;
    }
    loop.budget().spend(APPEND_UNITS + bytes / APPENDED_BYTES);
    published.add(publish.eventCount());
    ConnectionQuota share = quotas;
    if (share != null) {
      share.published(publish.eventCount(), bytes, loop.budget().now());
    }
    return true;
  }

  /** Runs a task when all that went to journals is answered; perhaps at once. */
  void whenStored(Runnable task) {
    if (durable == null) {
      task.run();
    } else {
      durable.whenAnswered(task);
    }
  }

  /** Frees what is remembered of durable topics. */
  void close() {
    if (durable != null) {
      durable.close();
    }
  }

  /**
   * Checks the quota before the frame is decoded: thousands of frames may wait, and are checked
   * again each time.
   */
  private boolean mustWait(ConnectionQuota share, Runnable retry) {
    long nanos = share.publishWaitNanos(loop.budget().now());
    awaitsRoom = nanos > 0;
    if (awaitsRoom) {
      connection.later(retry, nanos);
    }
    return awaitsRoom;
  }

  /** Returns whether the client may publish to the selected topic. */
  private boolean mayPublishSelected() {
    PublishDecisions created = decisions;
    if (created == null) {
      created = new PublishDecisions(allowed);
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
  private String forbidden(PublishView publish) {
    String topic = loop.router.selectedTopic();
    denials.denied(Action.PUBLISH, topic, () -> allowed.explain(topic));
    return "publish to '"
        + publish.shownTopic()
        + "' is not allowed to this client ("
        + allowed.origin()
        + "; expected: a topic that is)";
  }

  /** Returns whether the last frame waits for room in the subscribers' queues or for a quota. */
  boolean awaitsRoom() {
    return awaitsRoom;
  }

  private PublisherStall stall() {
    PublisherStall created = stall;
    if (created == null) {
      created = new PublisherStall();
      stall = created;
    }
    return created;
  }

  /** Charges the subscribers that stall this publisher. */
  void onTick(long nowNanos) {
    if (stall != null) {
      loop.router.chargeStall(stall, nowNanos);
    }
  }

  private void confirm(ByteBuffer in, PublishView publish, long nowNanos) {
    int receivers = loop.router.receivers();
    Delivery confirm =
        loop.router
            .deliveries()
            .allocate(DeliveryKind.CONTROL, Frames.confirmSize(publish, receivers), 0, nowNanos);
    Frames.writeConfirm(loop.scratch.clear(), in, publish, receivers);
    confirm.append(loop.scratch.flip());
    confirm.finish();
    out.send(confirm);
  }

  private void refuse(ErrorCode code, String message, PublishView publish) {
    refusal.refuse(
        code, message, publish.sequence(), TypeCode.PUBLISH.code(), publish.shownTopic());
  }

  /** Returns the number of accepted events; any thread. */
  long events() {
    return published.get();
  }
}
