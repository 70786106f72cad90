package io.eventbus.server.admin;

import java.util.Locale;

/** Role of a caller of the administration port; each may also do what those before it may. */
enum AdminRole {
  /** Asks whether the bus is alive and ready. */
  NONE,
  /** Looks at everything. */
  VIEWER,
  /** Closes and moves connections, drains buses. */
  OPERATOR,
  /** Changes the registry and journals, loads backups of the registry. */
  ADMIN;

  boolean includes(AdminRole needed) {
    return compareTo(needed) >= 0;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
