package io.eventbus.journal.ratis;

import io.eventbus.journal.copy.CopyRequest;
import io.eventbus.journal.copy.ReplicaState;
import io.eventbus.raft.RatisGroup;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Look for a change of the members that has taken this replica out while it was away: nobody sends
 * anything to it any more. On one thread, every few seconds; does not wait.
 */
final class TakenOut {
  private static final Logger LOG = LoggerFactory.getLogger(TakenOut.class);

  /** Time that is much longer than between two messages of a leader. */
  private static final long SILENCE_MILLIS = 5_000;

  private final RatisGroup group;
  private final ShardNetwork network;
  private final byte[] question;
  private final String self;
  private volatile boolean told;

  TakenOut(RatisGroup group, ShardNetwork network, UUID id, String self) {
    this.group = group;
    this.network = network;
    this.self = self;
    question = new CopyRequest(CopyRequest.Kind.STATE, id, self, 0, 0).encode();
  }

  /** Asks the others while no leader is heard from. */
  void look() {
    long configured = group.configured();
    if (!isAlone() || configured < 0) {
      told = false;
      return;
    }
    for (String member : group.memberIds()) {
      if (!member.equals(self)) {
        CompletableFuture<byte[]> answer = network.ask(member, question);
        var unused =
            answer
                .thenApply(ReplicaState::decode)
                .whenComplete(
                    (state, error) -> {
                      if (error != null) {
                        LOG.debug("{} does not tell the members", member, error);
                      } else if (state.configured() > configured) {
                        told = !state.voters().contains(self) && !state.listeners().contains(self);
                      }
                    });
      }
    }
  }

  private boolean isAlone() {
    long silence = group.leaderSilenceMillis();
    return silence < 0 || silence > SILENCE_MILLIS;
  }

  /** Returns whether this replica was taken out, as far as it has heard. */
  boolean isTakenOut() {
    return (told && isAlone()) || group.isTakenOut();
  }
}
