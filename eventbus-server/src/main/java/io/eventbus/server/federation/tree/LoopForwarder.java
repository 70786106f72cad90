package io.eventbus.server.federation.tree;

import io.eventbus.schema.Overflow;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.OneShotLatch;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.RemotePlan;
import io.eventbus.server.subscription.RemoteBus;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Plans how the events that one loop routes leave this bus. Confined to the loop. */
public final class LoopForwarder implements RemoteForwarder {
  private final LaneLoop loop;
  private final TreeTable trees;
  private final OneShotLatch startLatch;

  /**
   * Creates the forwarder of a loop.
   *
   * @param startLatch closed until this bus knows the interest of its peers
   */
  public LoopForwarder(LaneLoop loop, OneShotLatch startLatch) {
    this.loop = loop;
    this.trees = new TreeTable(loop);
    this.startLatch = startLatch;
  }

  @Override
  public boolean mustWait(Runnable retry) {
    return startLatch.mustWait(retry);
  }

  @Override
  public RemotePlan plan(
      @Nullable RemotePlan before,
      String account,
      String topic,
      Map<RemoteBus, Overflow> ungrouped,
      Map<String, List<RemoteBus>> groups) {
    return new TopicPlan(loop, trees, account, topic, ungrouped, groups, before);
  }
}
