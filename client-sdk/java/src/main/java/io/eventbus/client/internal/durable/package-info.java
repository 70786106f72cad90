/** Consumers of durable topics: what was fed, handled and settled. */
package io.eventbus.client.internal.durable;
