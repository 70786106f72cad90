package io.eventbus.registry.ratis;

import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Where this bus stands on its way into a cluster, as it tells others. Any thread.
 *
 * <p>A bus may found a cluster only if every bus that it looked for is there, belongs to none, and
 * has promised to leave the founding to it; and only the one with the lowest id asks for that. A
 * bus that has promised never founds. Both are decided under one lock, so that of two buses that
 * know of each other at most one founds; and a bus that belongs to a cluster says so, and everybody
 * joins it. A promise lasts as long as both processes.
 */
final class Foundation {
  private final BusId self;
  private final long instance;
  private @Nullable UUID cluster;
  private boolean founding;
  private @Nullable BusId promisedTo;
  private long promisedInstance;
  private final List<Endpoint> askers = new ArrayList<>();

  Foundation(BusId self, long instance, @Nullable UUID cluster) {
    this.self = self;
    this.instance = instance;
    this.cluster = cluster;
  }

  synchronized Probe.Answer answer(Probe.Question question) {
    if (cluster == null && question.wish() == Probe.Wish.PROMISE && !founding) {
      boolean lower = question.bus().compareTo(self) < 0;
      boolean restarted =
          question.bus().equals(promisedTo) && question.instance() != promisedInstance;
      if (lower && (promisedTo == null || restarted)) {
        promisedTo = question.bus();
        promisedInstance = question.instance();
        remember(question.address());
      }
    }
    if (cluster == null && question.wish() == Probe.Wish.INVITATION) {
      remember(question.address());
    }
    return new Probe.Answer(
        self, instance, standing(question), cluster == null ? "" : cluster.toString());
  }

  private Probe.Standing standing(Probe.Question question) {
    if (cluster != null) {
      return Probe.Standing.MEMBER;
    }
    if (founding) {
      return Probe.Standing.WAITING;
    }
    if (promisedTo == null) {
      return Probe.Standing.FRESH;
    }
    return promisedTo.equals(question.bus()) && promisedInstance == question.instance()
        ? Probe.Standing.PROMISED
        : Probe.Standing.WAITING;
  }

  /** True if this bus may found now; from then on it promises nothing to anybody. */
  synchronized boolean beginFounding() {
    if (cluster == null && promisedTo == null) {
      founding = true;
    }
    return founding;
  }

  synchronized void joined(UUID id) {
    cluster = id;
    founding = false;
  }

  private void remember(Endpoint asker) {
    if (askers.size() < 64 && !askers.contains(asker)) {
      askers.add(asker);
    }
  }

  /** Those who were promised something, or invite: where to look for their cluster. */
  synchronized List<Endpoint> askers() {
    return List.copyOf(askers);
  }

  synchronized boolean hasPromised() {
    return promisedTo != null;
  }
}
