package io.eventbus.server.session;

import io.eventbus.protocol.CallFrames;
import io.eventbus.protocol.DataView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.ReplyView;
import io.eventbus.protocol.RequestView;
import io.eventbus.server.call.CallRequest;
import io.eventbus.server.call.LoopCalls;
import io.eventbus.server.routing.DeliveryAllocator;
import io.eventbus.server.routing.Router;
import io.eventbus.server.security.DenialLog;
import io.eventbus.server.stats.LoopStats;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;

/**
 * What the sessions of one loop share: its router and counters, and the readers that stand on the
 * frame that is being handled. Confined to the loop.
 */
public final class LoopContext {
  /** Enough for the confirmation of a publish to the longest topic, and for the head of a call. */
  private static final int SCRATCH_BYTES = Math.max(512, CallFrames.MAX_HEAD);

  final BusContext bus;
  final Router router;
  final LoopStats stats;
  final ByteBufAllocator allocator;
  final FrameCursor frames = new FrameCursor();
  final PublishView publish = new PublishView();
  final RequestView request = new RequestView();
  final ReplyView reply = new ReplyView();
  final DataView data = new DataView();
  final LoopCalls calls;
  final CallRequest callRequest = new CallRequest();
  final CalledServices called = new CalledServices();

  /** Makes what waits for a member or a caller: perhaps for long, so that it shares no slab. */
  final DeliveryAllocator bodies;

  final FrameLimits frameLimits;
  final DenialLog denials = new DenialLog();
  private final WorkBudget budget;
  final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);

  /**
   * Makes the context of a loop.
   *
   * @param bus what all loops share
   * @param allocator where answers get their buffers
   */
  public LoopContext(
      BusContext bus, Router router, LoopStats stats, ByteBufAllocator allocator, LoopCalls calls) {
    this(bus, router, stats, allocator, calls, new WorkBudget());
  }

  /**
   * Makes the context of a loop with a budget of the caller's, as tests do.
   *
   * @param bus what all loops share
   * @param allocator where answers get their buffers
   */
  public LoopContext(
      BusContext bus,
      Router router,
      LoopStats stats,
      ByteBufAllocator allocator,
      LoopCalls calls,
      WorkBudget budget) {
    this.budget = budget;
    this.calls = calls;
    this.bodies = new DeliveryAllocator(allocator, bus.memory());
    this.bus = bus;
    this.router = router;
    this.stats = stats;
    this.allocator = allocator;
    this.frameLimits = bus.frameLimits();
  }

  /** Returns how much work is left for this turn of the loop. */
  public WorkBudget budget() {
    return budget;
  }

  /** Returns what all loops share. */
  public BusContext bus() {
    return bus;
  }

  /** Returns the loop's router. */
  public Router router() {
    return router;
  }

  /** Returns the loop's counters. */
  public LoopStats stats() {
    return stats;
  }

  /** Returns the calls that begin or end at connections of the loop. */
  public LoopCalls calls() {
    return calls;
  }

  /** Gives back memory that is not used; to be called from time to time. */
  public void trim() {
    bodies.trim();
  }

  /** Gives back what the loop holds; on it, or when it has ended. */
  public void close() {
    router.close();
    bodies.close();
  }

  /** Returns where buffers come from. */
  public ByteBufAllocator allocator() {
    return allocator;
  }
}
