package io.eventbus.server.routing;

import io.eventbus.schema.Overflow;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where frames leave for other buses; one for each loop, and confined to it.
 *
 * <p>An implementation must not block and must not throw.
 */
public interface RemoteForwarder {
  /** For a bus that serves alone: there are no others. */
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
   * Says whether all publishers have to wait, because the bus has started and does not know yet
   * what the others subscribe to.
   *
   * @param retry if so, called once when it is worth trying again, by any thread
   * @return true for a bounded time after the start only
   */
  boolean mustWait(Runnable retry);

  /**
   * Plans how the frames of a topic leave; called only when something has changed.
   *
   * @param before the plan so far, null if there was none; the caller closes it afterwards
   * @param account whose topic it is; empty for the default account
   */
  RemotePlan plan(
      @Nullable RemotePlan before,
      String account,
      String topic,
      Map<RemoteBus, Overflow> ungrouped,
      Map<String, List<RemoteBus>> groups);
}
