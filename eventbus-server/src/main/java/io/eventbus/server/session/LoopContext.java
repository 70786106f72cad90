package io.eventbus.server.session;

import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.PublishView;
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
  /** Enough for the confirmation of a publish to the longest topic. */
  private static final int SCRATCH_BYTES = 512;

  final BusContext bus;
  final Router router;
  final LoopStats stats;
  final ByteBufAllocator allocator;
  final FrameCursor frames = new FrameCursor();
  final PublishView publish = new PublishView();
  final FrameLimits frameLimits;
  final DenialLog denials = new DenialLog();
  private final TurnBudget budget;
  final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);

  /**
   * Makes the context of a loop.
   *
   * @param bus what all loops share
   * @param router the loop's router
   * @param stats the loop's counters
   * @param allocator where answers get their buffers
   */
  public LoopContext(BusContext bus, Router router, LoopStats stats, ByteBufAllocator allocator) {
    this(bus, router, stats, allocator, new TurnBudget());
  }

  /**
   * Makes the context of a loop with a budget of the caller's, as tests do.
   *
   * @param bus what all loops share
   * @param router the loop's router
   * @param stats the loop's counters
   * @param allocator where answers get their buffers
   * @param budget how much work is left for a turn
   */
  public LoopContext(
      BusContext bus,
      Router router,
      LoopStats stats,
      ByteBufAllocator allocator,
      TurnBudget budget) {
    this.budget = budget;
    this.bus = bus;
    this.router = router;
    this.stats = stats;
    this.allocator = allocator;
    this.frameLimits = bus.frameLimits();
  }

  /**
   * Returns how much work is left for this turn of the loop.
   *
   * @return the loop's budget
   */
  public TurnBudget budget() {
    return budget;
  }

  /**
   * Returns what all loops share.
   *
   * @return the bus's context
   */
  public BusContext bus() {
    return bus;
  }

  /**
   * Returns the loop's router.
   *
   * @return the router
   */
  public Router router() {
    return router;
  }

  /**
   * Returns the loop's counters.
   *
   * @return the counters
   */
  public LoopStats stats() {
    return stats;
  }

  /**
   * Returns where buffers come from.
   *
   * @return the allocator
   */
  public ByteBufAllocator allocator() {
    return allocator;
  }
}
