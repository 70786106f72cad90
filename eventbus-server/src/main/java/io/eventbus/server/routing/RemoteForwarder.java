package io.eventbus.server.routing;

import io.eventbus.schema.Overflow;
import io.eventbus.server.subscription.RemoteBus;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Forwarder of frames to peers; one for each loop, and confined to it.
 *
 * <p>An implementation must not block and must not throw.
 */
public interface RemoteForwarder {
  /** Forwarder of a bus that serves alone, without peers. */
  RemoteForwarder NONE =
      new RemoteForwarder() {
        @Override
        public boolean mustWait(Runnable retry) {
          return false;
        }

        @Override
        public RemotePlan plan(
            @Nullable RemotePlan before,
            String account,
            String topic,
            Map<RemoteBus, Overflow> ungrouped,
            Map<String, List<RemoteBus>> groups) {
          throw new IllegalStateException("a bus that serves alone knows no others");
        }
      };

  /**
   * Returns whether all publishers have to wait, because the bus has started and does not know its
   * peers' subscriptions yet; true for a bounded time after the start only.
   *
   * @param retry if so, called once when it is worth trying again, by any thread
   */
  boolean mustWait(Runnable retry);

  /**
   * Plans how the frames of a topic leave; called only when something has changed.
   *
   * @param before the plan so far, null if there was none; the caller closes it afterwards
   * @param account of the topic; empty for the default account
   */
  RemotePlan plan(
      @Nullable RemotePlan before,
      String account,
      String topic,
      Map<RemoteBus, Overflow> ungrouped,
      Map<String, List<RemoteBus>> groups);
}
