package io.eventbus.server.call;

import java.util.List;

/**
 * A service as operators see it; taken while it changes, so that the figures may be a moment apart.
 *
 * @param account whose it is; empty for the default account
 */
public record ServiceFigures(
    String account, String name, int queued, List<MemberFigures> members) {}
