package io.eventbus.server.balance.decision;

/** Another bus as a target for clients. */
public record MoveTarget(String bus, String zone, double load) {}
