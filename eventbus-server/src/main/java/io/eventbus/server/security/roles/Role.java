package io.eventbus.server.security.roles;

import io.eventbus.server.config.Quotas;
import java.util.List;

/**
 * A role as it is written in a file.
 *
 * @param name its name
 * @param line of what it includes, or of its head
 * @param includes names of roles whose rules it has as well
 * @param rules its own rules
 * @param quotas its own quotas
 */
record Role(String name, int line, List<String> includes, RuleBlock rules, Quotas quotas) {}
