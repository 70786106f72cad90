package io.eventbus.server.balance.decision;

/** Peer as a target for clients. */
public record MoveTarget(String bus, String zone, double load) {}
