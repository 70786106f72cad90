package io.eventbus.server.admin;

import org.jspecify.annotations.Nullable;

/**
 * A subscription.
 *
 * @param account whose it is; empty for the default account
 * @param group its group, or null for none
 */
public record SubscriptionInfo(
    long connection,
    long id,
    String account,
    String filter,
    @Nullable String group,
    String overflow) {}
