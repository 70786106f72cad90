package io.eventbus.server.view;

import org.jspecify.annotations.Nullable;

/**
 * Subscription of a client.
 *
 * @param account its account; empty for the default one
 * @param group its group, or null for none
 */
public record SubscriptionInfo(
    long connection,
    long id,
    String account,
    String filter,
    @Nullable String group,
    String overflow) {}
