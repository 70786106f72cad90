package io.eventbus.server.queue;

import io.eventbus.server.config.TimeoutsConfig;
import io.eventbus.server.session.LoopContext;

/**
 * State that the queues of one loop share. Confined to the loop but for its number and the budgets.
 *
 * @param timeouts how long a client may be slow
 * @param budgets block budgets of the whole bus
 */
public record QueueContext(
    int loop,
    LoopContext session,
    TimeoutsConfig timeouts,
    LastEvents lastEvents,
    BlockBudgets budgets) {}
