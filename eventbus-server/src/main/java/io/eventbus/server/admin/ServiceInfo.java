package io.eventbus.server.admin;

/**
 * A service that has members at this bus.
 *
 * @param name its name
 * @param members connections that serve it
 * @param window calls that its members may be given at once, together
 * @param outstanding calls that its members have and have not answered
 * @param queued calls that wait for a member
 */
public record ServiceInfo(String name, int members, int window, int outstanding, int queued) {}
