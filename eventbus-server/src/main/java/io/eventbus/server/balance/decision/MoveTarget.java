package io.eventbus.server.balance.decision;

/**
 * Another bus as a target for clients.
 *
 * @param bus its name
 * @param zone what fails together with it
 * @param load its load, as it said last
 */
public record MoveTarget(String bus, String zone, double load) {}
