package io.eventbus.server.federation.lane;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Notifies when everything forwarded until now is acknowledged, that is in the queues of the
 * subscribers at all buses that it was for; or given up. Any thread.
 */
public final class Acknowledgement {
  private final List<LaneLoop> loops;
  private final Peers peers;

  Acknowledgement(List<LaneLoop> loops, Peers peers) {
    this.loops = loops;
    this.peers = peers;
  }

  /**
   * Waits for the frames that one loop has forwarded.
   *
   * @param lane lane to wait for; -1 for all
   * @param only recipients to wait for; null for all
   */
  public void of(LaneLoop source, int lane, @Nullable Collection<Peer> only, Runnable done) {
    of(source, lane, only, false, done);
  }

  private void of(
      LaneLoop source,
      int lane,
      @Nullable Collection<Peer> only,
      boolean throughRelays,
      Runnable done) {
    source.router().flush();
    AtomicInteger left = new AtomicInteger(lane < 0 ? loops.size() : 1);
    Runnable one =
        () -> {
          if (left.decrementAndGet() == 0) {
            done.run();
          }
        };
    for (LaneLoop loop : loops) {
      if (lane < 0 || loop.number() == lane) {
        // After the frames handed over to it.
        loop.execute(() -> here(loop, only, throughRelays, one));
      }
    }
  }

  private void here(
      LaneLoop loop, @Nullable Collection<Peer> only, boolean throughRelays, Runnable done) {
    Set<Peer> concerned = new LinkedHashSet<>(only == null ? peers.all() : only);
    if (throughRelays) {
      for (Peer peer : peers.all()) {
        if (peer.lane(loop.number()).hasRelayed()) {
          concerned.add(peer);
        }
      }
    }
    AtomicInteger left = new AtomicInteger(concerned.size() + 1);
    Runnable one =
        () -> {
          if (left.decrementAndGet() == 0) {
            done.run();
          }
        };
    concerned.forEach(peer -> peer.lane(loop.number()).whenAcknowledged(one));
    one.run();
  }

  /**
   * Waits for the frames that all loops have forwarded.
   *
   * @param only recipients to wait for, also through relays; null for all
   */
  public void ofAll(@Nullable Collection<Peer> only, Runnable done) {
    AtomicInteger left = new AtomicInteger(loops.size());
    for (LaneLoop loop : loops) {
      loop.execute(
          () ->
              of(
                  loop,
                  -1,
                  only,
                  true,
                  () -> {
                    if (left.decrementAndGet() == 0) {
                      done.run();
                    }
                  }));
    }
  }
}
