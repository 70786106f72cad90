package io.eventbus.client.internal.call;

/**
 * Connection as calls see it: the one that a reply has come over, or has to go over. Compared by
 * identity.
 */
public interface CallPath {}
