/**
 * The public API of the Java SDK: connect with {@link io.eventbus.client.EventBusClient#builder},
 * publish, subscribe. The implementation is found through {@link io.eventbus.client.ClientProvider}
 * and may change without notice.
 */
package io.eventbus.client;
