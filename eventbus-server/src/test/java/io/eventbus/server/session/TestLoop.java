package io.eventbus.server.session;

import io.eventbus.server.call.LoopCalls;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.SampleCalls;
import io.netty.buffer.ByteBufAllocator;

/** Context of the first loop of a bus without peers. */
final class TestLoop {
  private TestLoop() {}

  static LoopContext of(
      BusContext bus, FakeLoops loops, ByteBufAllocator allocator, WorkBudget budget) {
    return of(
        bus,
        loops,
        allocator,
        budget,
        SampleCalls.calls(loops, bus.memory(), bus.stats().loops().get(0).calls));
  }

  static LoopContext of(
      BusContext bus,
      FakeLoops loops,
      ByteBufAllocator allocator,
      WorkBudget budget,
      LoopCalls calls) {
    Router router =
        new Router(
            0,
            loops,
            bus.index(),
            allocator,
            bus.memory(),
            bus.stats().loops().get(0),
            RemoteForwarder.NONE,
            () -> {});
    return new LoopContext(bus, router, bus.stats().loops().get(0), allocator, calls, budget);
  }
}
