package io.eventbus.server.call;

import java.util.List;

/**
 * Service as operators see it; collected while it changes, so that the figures may be a moment
 * apart.
 *
 * @param account account of the service; empty for the default account
 */
public record ServiceFigures(
    String account, String name, int queued, List<MemberFigures> members) {}
