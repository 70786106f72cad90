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
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.routing.Router;
import io.eventbus.server.security.DenialLog;
import io.eventbus.server.stats.LoopStats;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;

/**
 * State that the sessions of one loop share: router, counters, and the frame views positioned on
 * the frame that is being handled. Confined to the loop.
 */
public final class LoopContext {
  /**
   * Bytes enough for the confirmation of a publish to the longest topic, and for the head of a
   * call.
   */
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

  /**
   * Allocator for calls that wait for a member or caller, perhaps for long, so that they share no
   * slab.
   */
  final DeliveryAllocator bodies;

  final FrameLimits frameLimits;
  final DenialLog denials = new DenialLog();
  private final WorkBudget budget;
  final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);

  /**
   * Creates the context of a loop.
   *
   * @param allocator allocates the buffers of answers
   */
  public LoopContext(
      BusContext bus, Router router, LoopStats stats, ByteBufAllocator allocator, LoopCalls calls) {
    this(bus, router, stats, allocator, calls, new WorkBudget());
  }

  /**
   * Creates the context of a loop with a given budget, for tests.
   *
   * @param allocator allocates the buffers of answers
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

  /** Returns the work budget of the loop. */
  public WorkBudget budget() {
    return budget;
  }

  /** Returns the context of the bus. */
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

  /** Returns the calls whose caller or member is a connection of the loop. */
  public LoopCalls calls() {
    return calls;
  }

  /** Releases unused memory; called from time to time. */
  public void trim() {
    bodies.trim();
  }

  /** Releases the loop's memory; on the loop, or after its end. */
  public void close() {
    router.close();
    bodies.close();
  }

  /** Returns the allocator of the loop. */
  public ByteBufAllocator allocator() {
    return allocator;
  }
}
