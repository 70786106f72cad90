/**
 * Requests to services and their answers, at both ends: knows frames and time, and no connection.
 * {@link io.eventbus.client.internal.call.CallHost} is its port to the client around it.
 */
@org.jspecify.annotations.NullMarked
package io.eventbus.client.internal.call;
