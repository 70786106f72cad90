package io.eventbus.client.internal.call;

/**
 * One connection as calls see it: what an answer has come over, or has to go over. Compared by
 * identity.
 */
public interface CallPath {}
