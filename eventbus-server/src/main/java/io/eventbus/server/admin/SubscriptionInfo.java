package io.eventbus.server.admin;

import org.jspecify.annotations.Nullable;

/**
 * A subscription.
 *
 * @param connection number of its connection
 * @param id its number in that connection, chosen by the client
 * @param account whose it is; empty for the default account
 * @param filter its filter
 * @param group its group, or null for none
 * @param overflow its overflow policy
 */
public record SubscriptionInfo(
    long connection,
    long id,
    String account,
    String filter,
    @Nullable String group,
    String overflow) {}
