package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.hostile.DurablePublishers.Publication;
import io.eventbus.loadtest.attack.hostile.DurableReaders.Reading;
import io.eventbus.loadtest.attack.hostile.FrameFlood.Kind;
import io.eventbus.loadtest.attack.hostile.InFlight.End;
import io.eventbus.schema.Overflow;
import java.util.ArrayList;
import java.util.List;

/** All attacks there are. */
public final class Attacks {
  private static final int LARGEST_MESSAGE = 4 * 1024 * 1024;
  private static final int SMALL_MESSAGE = 60 * 1024;

  private Attacks() {}

  /** Returns all of them. */
  public static List<Attack> all() {
    List<Attack> all = new ArrayList<>();
    all.add(new None());
    all.add(new Busy());
    addMemory(all);
    addProcessorTime(all);
    addConnections(all);
    addServices(all);
    addDurable(all);
    return all;
  }

  private static void addMemory(List<Attack> all) {
    all.add(new PartialBurst());
    all.add(new GroupCopies("group-copies", 300, 1, false));
    all.add(new GroupCopies("groups-honest", 1_000, 3, true));
    all.add(new NeverRead("conflate-burst", Overflow.CONFLATE, 10, 0, LARGEST_MESSAGE, 4, false));
    all.add(new NeverRead("never-read-block", Overflow.BLOCK, 20, 50, SMALL_MESSAGE, 0, false));
    all.add(
        new NeverRead("never-read-drop", Overflow.DROP_OLDEST, 20, 50, SMALL_MESSAGE, 0, false));
    all.add(
        new NeverRead("never-read-conflate", Overflow.CONFLATE, 20, 50, SMALL_MESSAGE, 0, false));
    all.add(
        new NeverRead(
            "never-read-disconnect", Overflow.DISCONNECT, 20, 50, SMALL_MESSAGE, 0, false));
    all.add(
        new NeverRead(
            "never-read-crowd", Overflow.DROP_OLDEST, 3_500, 50, SMALL_MESSAGE, 0, false));
    all.add(new NeverRead("conflate-collide", Overflow.CONFLATE, 1, 1_024, SMALL_MESSAGE, 0, true));
    all.add(new RouteHeap("route-heap", false));
    all.add(new RouteHeap("route-heap-own", true));
    all.add(new SubBudget());
    all.add(new PartialHold());
  }

  private static void addProcessorTime(List<Attack> all) {
    all.add(new LookupBomb());
    all.add(new BlockDrip("block-drip-0", 0, false));
    all.add(new BlockDrip("block-drip-300k", 300_000, false));
    all.add(new BlockDrip("block-permitted-0", 0, true));
    all.add(new BlockDrip("block-permitted-300k", 300_000, true));
    all.add(new BlockAgain());
    all.add(new FrameFlood("ping-flood-20", Kind.PING, 20, false));
    all.add(new FrameFlood("ping-flood-100", Kind.PING, 100, false));
    all.add(new FrameFlood("ping-flood-300", Kind.PING, 300, false));
    all.add(new FrameFlood("ping-flood-early", Kind.PING, 20, true));
    all.add(new FrameFlood("ping-flood-16-at-once", Kind.PING_16, 100, false));
    all.add(new SlowPinger());
    all.add(new FrameFlood("pong-flood", Kind.PONG, 20, false));
    all.add(new FrameFlood("empty-flood", Kind.EMPTY, 20, false));
    all.add(new FrameFlood("unknown-type-20", Kind.UNKNOWN, 20, false));
    all.add(new FrameFlood("unknown-type-300", Kind.UNKNOWN, 300, false));
    all.add(new FrameFlood("tiny-frames", Kind.TINY, 20, false));
    all.add(new Inflate("inflate-1", 1));
    all.add(new Inflate("inflate-10", 10));
    all.add(new SubscribeChurn());
    all.add(new RouteRebuild("route-rebuild", false));
    all.add(new RouteRebuild("route-rebuild-guests", true));
    all.add(new GroupCrowd());
    all.add(new BigFanout());
    all.add(new DripCut());
    all.add(new QuotaFlood());
    all.add(new QuotaBypass("quota-requests", false));
    all.add(new QuotaBypass("quota-tunnel", true));
  }

  private static void addConnections(List<Attack> all) {
    all.add(new ConnFlood());
    all.add(new TlsHello());
    all.add(new KeyUpdates());
    all.add(new PreauthFill());
    all.add(new TokenGuess());
    all.add(new AdminIdle());
    all.add(
        new AdminRequests(
            "admin-partial",
            "300 requests to the administration port that never end, while health is asked for",
            "G",
            300));
    all.add(
        new AdminRequests(
            "admin-paths",
            "256 requests to the administration port with a path of 150,000 parts",
            "GET " + "/a".repeat(150_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
            256));
    all.add(new AdminServices());
    all.add(new AdminLockout(8));
    all.add(new AdminLockout(64));
    all.add(new TlsLog());
    all.add(new ConnectionChurn("http-flood", ConnectionChurn.Kind.HTTP, 200));
    all.add(new ConnectionChurn("slowloris", ConnectionChurn.Kind.SLOWLORIS, 5_000));
    all.add(new ConnectionChurn("head-bomb", ConnectionChurn.Kind.HEADERS, 5_000));
    all.add(new ConnectionChurn("hello-churn", ConnectionChurn.Kind.HELLO, 50));
    all.add(new HandshakeCases());
    all.add(new ForgedResume());
    all.add(new Fragments());
  }

  private static void addServices(List<Attack> all) {
    all.add(new WaitingServices());
    all.add(new InFlight("waiting-tunnels", End.TUNNELS_WAIT, 450, 1_024));
    all.add(new InFlight("calls-expire", End.EXPIRE, 100, 4_096));
    all.add(new InFlight("callers-reset", End.CALLERS, 100, 4_096));
    all.add(new InFlight("members-reset", End.MEMBERS, 100, 4_096));
    all.add(new InFlight("idle-tunnels", End.TUNNELS, 200, 1_024));
    all.add(new WaitingBytes());
    all.add(new CapacityToggle());
    all.add(new GatherFlood());
    all.add(new GatherRefused());
    all.add(new RefusedCalls());
    all.add(new FullMembers());
    all.add(new ServicesCrowd());
    all.add(new GatherQuota());
    all.add(new CollideServices("services-collide", true));
    all.add(new CollideServices("services-many", false));
    all.add(new ClusterFilters("cluster-collide", true, 4));
    all.add(new ClusterFilters("cluster-filters", false, 11));
    all.add(new BacklogFill());
    all.add(new TunnelCredits());
    all.add(new SubscribersReset("subscribers-reset", false));
    all.add(new SubscribersReset("subscribers-reset-cluster", true));
    all.add(new CalledNames());
    all.add(new SmallCrowd("small-crowd", false));
    all.add(new SmallCrowd("small-crowd-serves", true));
    all.add(new BarrierFlood());
    all.add(new ClusterToggle());
  }

  private static void addDurable(List<Attack> all) {
    all.add(new DurablePublishers("durable-flood", Publication.FLOOD, 20));
    all.add(new DurablePublishers("durable-big", Publication.BIG, 10));
    all.add(new DurablePublishers("durable-topics", Publication.TOPICS, 10));
    all.add(new DurablePublishers("durable-names", Publication.NAMES, 20));
    all.add(new DurablePublishers("durable-expect", Publication.EXPECT, 20));
    all.add(new DurablePublishers("durable-full", Publication.FULL, 20));
    all.add(new DurablePublishers("durable-quota", Publication.QUOTA, 20));
    all.add(new DurablePublishers("durable-delay", Publication.DELAY, 20));
    all.add(new DurablePublishers("durable-due", Publication.DUE, 20));
    all.add(new DurablePublishers("durable-ttl", Publication.TTL, 20));
    all.add(new DurableReaders("durable-never-read", Reading.NEVER, 20, 200));
    all.add(new DurableReaders("durable-restart", Reading.RESTART, 20, 10));
    all.add(new DurableReaders("durable-nothing", Reading.NOTHING, 20, 10));
    all.add(new DurableReaders("durable-ask", Reading.ASK, 20, 16));
    all.add(new DurableReaders("durable-settle", Reading.SETTLE, 20, 1));
    all.add(new DurableReaders("durable-subscriptions", Reading.NAMES, 20, 10));
    all.add(new DurableReaders("durable-take-over", Reading.TAKE_OVER, 20, 10));
    all.add(new DurableReaders("durable-latest", Reading.LATEST, 20, 10));
    all.add(new DurableCreator());
  }
}
