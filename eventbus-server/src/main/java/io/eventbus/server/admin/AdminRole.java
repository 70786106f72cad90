package io.eventbus.server.admin;

import java.util.Locale;

/** What a caller of the administration port may do; each may also do what those before it may. */
enum AdminRole {
  /** Ask whether the bus is alive and ready. */
  NONE,
  /** Look at everything. */
  VIEWER,
  /** Close and move connections, drain buses. */
  OPERATOR,
  /** Change the registry, load backups of it. */
  ADMIN;

  boolean includes(AdminRole needed) {
    return compareTo(needed) >= 0;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
