/**
 * Use of a bus by the clients of one identity, and by those of one account, together, against their
 * quotas. The limits themselves come with a client's {@link
 * io.eventbus.server.config.ClientQuotas}.
 */
package io.eventbus.server.quota;
