package io.eventbus.client.internal.base;

import java.util.concurrent.Executor;
import java.util.function.DoubleSupplier;

/** Dependencies of a client from outside, which tests replace. */
public record Outside(
    Transport transport,
    Scheduler conductor,
    Executor senders,
    Executor handlers,
    MicroClock clock,
    DoubleSupplier random,
    Runnable onClosed) {}
