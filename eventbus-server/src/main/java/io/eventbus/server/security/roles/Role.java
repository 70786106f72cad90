package io.eventbus.server.security.roles;

import io.eventbus.server.config.Quotas;
import java.util.List;

/** Role as it is written in a file. */
record Role(String name, int line, List<String> includes, RuleBlock rules, Quotas quotas) {}
