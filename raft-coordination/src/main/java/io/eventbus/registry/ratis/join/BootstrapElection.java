package io.eventbus.registry.ratis.join;

import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Status of this bus on its way into a cluster, as it tells others. Any thread.
 *
 * <p>A bus may found a cluster only if every bus that it looked for is present, belongs to none,
 * and has promised to leave the founding to it; and only the one with the lowest id asks for that.
 * A bus that has promised never founds. Both are decided under one lock, so that of two buses that
 * know of each other at most one founds; and a bus that belongs to a cluster says so, and all
 * others join it. A promise lasts as long as both processes.
 */
public final class BootstrapElection {
  private final BusId self;
  private final long instance;
  private @Nullable UUID cluster;
  private boolean founding;
  private @Nullable BusId promisedTo;
  private long promisedInstance;
  private final List<Endpoint> askers = new ArrayList<>();

  /** Creates the status of a bus that may belong to a cluster already; null if it does not. */
  public BootstrapElection(BusId self, long instance, @Nullable UUID cluster) {
    this.self = self;
    this.instance = instance;
    this.cluster = cluster;
  }

  synchronized JoinMessages.Answer answer(JoinMessages.Question question) {
    if (cluster == null && question.intent() == JoinMessages.JoinIntent.PROMISE && !founding) {
      boolean lower = question.bus().compareTo(self) < 0;
      boolean restarted =
          question.bus().equals(promisedTo) && question.instance() != promisedInstance;
      if (lower && (promisedTo == null || restarted)) {
        promisedTo = question.bus();
        promisedInstance = question.instance();
        remember(question.address());
      }
    }
    if (cluster == null && question.intent() == JoinMessages.JoinIntent.INVITATION) {
      remember(question.address());
    }
    return new JoinMessages.Answer(
        self, instance, status(question), cluster == null ? "" : cluster.toString());
  }

  private JoinMessages.MemberStatus status(JoinMessages.Question question) {
    if (cluster != null) {
      return JoinMessages.MemberStatus.MEMBER;
    }
    if (founding) {
      return JoinMessages.MemberStatus.WAITING;
    }
    if (promisedTo == null) {
      return JoinMessages.MemberStatus.FRESH;
    }
    return promisedTo.equals(question.bus()) && promisedInstance == question.instance()
        ? JoinMessages.MemberStatus.PROMISED
        : JoinMessages.MemberStatus.WAITING;
  }

  /** Returns whether this bus may found now; from then on it promises nothing to any bus. */
  public synchronized boolean beginFounding() {
    if (cluster == null && promisedTo == null) {
      founding = true;
    }
    return founding;
  }

  /** Records that this bus belongs to a cluster. */
  public synchronized void joined(UUID id) {
    cluster = id;
    founding = false;
  }

  private void remember(Endpoint asker) {
    if (askers.size() < 64 && !askers.contains(asker)) {
      askers.add(asker);
    }
  }

  /** Returns the buses that were promised something, or invite: seeds for their cluster. */
  synchronized List<Endpoint> askers() {
    return List.copyOf(askers);
  }

  synchronized boolean hasPromised() {
    return promisedTo != null;
  }
}
