/**
 * What the clients of one identity, and those of one account, use of a bus together, held against
 * their quotas. The limits themselves come with a client's {@link
 * io.eventbus.server.config.ClientQuotas}.
 */
package io.eventbus.server.quota;
