package io.eventbus.server.replica;

import io.eventbus.journal.ratis.ShardJournals;
import io.eventbus.journal.ratis.ShardStatus;
import io.eventbus.server.replica.PlacementMessages.Answer;
import io.eventbus.server.replica.PlacementMessages.Operation;
import io.eventbus.server.replica.PlacementMessages.Outcome;
import io.eventbus.server.replica.PlacementMessages.Request;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Joining of a replica: until it is ready, it asks the bus that leads the shard to let it follow.
 * Looks are confined to one thread.
 */
final class ReplicaJoining {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicaJoining.class);

  private static final int LOOKS_TO_TELL = 10;

  private final CompletableFuture<ShardJournals> opened;
  private final PlacementRequests requests;
  private final Request request;
  private volatile boolean led;
  private int looks;

  ReplicaJoining(
      ReplicaPlace place,
      int generation,
      CompletableFuture<ShardJournals> opened,
      PlacementRequests requests) {
    this.opened = opened;
    this.requests = requests;
    request = new Request(Operation.FOLLOW, place.bus(), generation, place.address());
  }

  /** Returns whether a bus that leads the shard has answered last time. Any thread. */
  boolean isLed() {
    return led;
  }

  /** Asks if the replica is open and not ready; does not wait. */
  void look() {
    ShardJournals open = opened.getNow(null);
    if (open == null || open.ready().toCompletableFuture().isDone()) {
      return;
    }
    boolean tell = ++looks % LOOKS_TO_TELL == 0;
    ShardStatus status = open.status();
    if (status == null || status.copy() != null) {
      // With the copy it is time to ask: the change of members would wait for that, and others too.
      return;
    }
    var unused = requests.ask(request).thenAccept(answer -> answered(open, answer, tell));
  }

  private void answered(ShardJournals open, Answer answer, boolean tell) {
    led = answer.outcome() != Outcome.NOT_LEADING;
    ShardStatus status = open.status();
    if (tell && status != null) {
      LOG.info(
          "The replica of the journals is not ready: {} of {} entries are applied; the leader: {}"
              + " {}",
          status.applied(),
          status.committed(),
          answer.outcome(),
          answer.detail());
    }
  }
}
