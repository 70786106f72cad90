package io.eventbus.server.queue;

import io.eventbus.server.config.LimitsConfig;
import io.eventbus.server.config.TimeoutsConfig;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.stats.LoopStats;
import io.netty.buffer.ByteBufAllocator;

/**
 * State that the queues of one loop share. Confined to the loop but for its number and what is of
 * the whole bus: limits, memory, budgets.
 *
 * @param timeouts how long a client may be slow
 * @param budgets block budgets of the whole bus
 */
public record QueueContext(
    int loop,
    LimitsConfig limits,
    TimeoutsConfig timeouts,
    BusMemory memory,
    LoopStats stats,
    ByteBufAllocator allocator,
    LastEvents lastEvents,
    BlockBudgets budgets) {}
