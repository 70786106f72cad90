package io.eventbus.server.queue;

import io.eventbus.server.config.TimeoutsConfig;
import io.eventbus.server.session.LoopContext;

/**
 * What the queues of one loop share. Confined to the loop but for its number and the budgets.
 *
 * @param timeouts how long a client may be slow
 * @param budgets how long publishers may be held back; of the whole bus
 */
public record QueueContext(
    int loop,
    LoopContext session,
    TimeoutsConfig timeouts,
    LastEvents lastEvents,
    HoldBudgets budgets) {}
